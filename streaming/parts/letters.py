"""The part that reads words out: a lexicon, and a network from letters to phones.

Boosted words that a graph of phones does not have are spelled by it. It lies in the model's
directory and belongs to the model's own phones, so nobody chooses another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from earshot.streaming.parts.part import Part

if TYPE_CHECKING:
    from earshot.language.g2p.pronouncer import Pronouncer
    from earshot.streaming.parts.model_parts import ModelParts


def _fit(_: None, parts: ModelParts) -> Pronouncer | None:
    """None for a model without phones, or without either file. Raises CheckpointError."""
    from earshot.language.g2p.pronouncer import pronouncer_of

    return pronouncer_of(parts.model)


LETTERS: Part[Pronouncer | None] = Part(
    name="letters",
    title="lexicon",
    file="letters.safetensors",
    load=None,
    fit=_fit,
)
