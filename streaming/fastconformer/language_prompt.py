"""The language that a model with a prompt is told for each stream."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from earshot.models.fastconformer.config import PromptConfig
from earshot.models.fastconformer.heads import Prompt
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.language_tags import served_tag

AUTO = "auto"
"""The prompt by which NeMo's models find the language out."""


class LanguagePrompt:
    """Places of languages in a model's prompt."""

    def __init__(self, config: PromptConfig) -> None:
        self._places = config.languages

    def place(self, language: str | None) -> int:
        """The place of a tag, or of its language in whatever region; None means "auto".

        Raises InvalidStreamConfig for a language that the model does not have.
        """
        tag = served_tag(language or AUTO, tuple(self._places))
        if tag is None:
            known = ", ".join(self._places)
            told = language or "not told, and the model does not find it out"
            raise InvalidStreamConfig(f"language is {told}: there are {known}")
        return self._places[tag]

    def tell(
        self, prompt: Prompt, encoded: Sequence[Tensor], places: Sequence[int]
    ) -> list[Tensor]:
        """Encoder frames `(T_i, D)` of lanes to frames that know their language, in one batch."""
        frames = pad_sequence(list(encoded), batch_first=True)
        told = prompt.tell(frames, torch.tensor(places, device=frames.device))
        return [row[: len(own)].clone() for row, own in zip(told, encoded, strict=True)]
