"""The part that hears whether a speaker has finished: a head on the encoder's frames.

It goes with the neural language model, which says how likely the words end (`streaming/turns`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.streaming.parts.part import Part

if TYPE_CHECKING:
    from earshot.models.turns.turn_head import TurnHead


@dataclass(frozen=True)
class TurnsDescription:
    """width: size of the frames that it hears."""

    width: int


def _load(path: Path, device: str) -> TurnHead:
    """Raises CheckpointError."""
    from earshot.models.turns.turn_head_file import load_turn_head

    return load_turn_head(path, device)


TURNS: Part[TurnHead] = Part(
    name="turns",
    title="head for the ends of turns",
    file="turns.safetensors",
    help="head that hears whether a speaker has finished, or none; the model's own if absent",
    needs="neural_lm",
    of_no_use="goes with a neural language model; there is none",
    load=_load,
    fit=lambda head, parts: head,  # its engine knows how wide frames are
    describe=lambda head: TurnsDescription(head.width),
)
