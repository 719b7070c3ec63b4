"""The tagger: capitals, and the marks after words, for partials and finals alike.

Its row of the table alone, without torch: settings read it. What it does is `word_tagging.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.streaming.parts.part import Part

if TYPE_CHECKING:
    from earshot.language.marks.word_tagger import WordTagger
    from earshot.streaming.parts.model_parts import ModelParts
    from earshot.streaming.parts.word_tagging import WordTagging


@dataclass(frozen=True)
class TaggerDescription:
    """parameters: of its network. words: of its vocabulary; it tags any others too."""

    parameters: int
    words: int


def _load(path: Path, device: str) -> WordTagger:
    """It stays on the CPU, where a word takes less time than its way to a device.

    Raises CheckpointError.
    """
    from earshot.language.marks.tagger_file import load_tagger

    return load_tagger(path)


def _fit(tagger: WordTagger, parts: ModelParts) -> WordTagger:
    """It reads words and fits any model that writes some."""
    return tagger


def _describe(tagger: WordTagger) -> TaggerDescription:
    weights = sum(parameter.numel() for parameter in tagger.network.parameters())
    return TaggerDescription(weights, len(tagger.numbers.vocabulary))


def _tagging(tagger: WordTagger) -> WordTagging:
    from earshot.streaming.parts.word_tagging import WordTagging

    return WordTagging(tagger)


TAGGER: Part[WordTagger] = Part(
    name="tagger",
    title="tagger",
    file="tagger.safetensors",
    help="tagger of capitals and marks, or none; the model's own if absent, if it has one",
    load=_load,
    fit=_fit,
    describe=_describe,
    tagger=_tagging,
    partial_tagger=lambda tagger: _tagging(tagger).partials,
)
