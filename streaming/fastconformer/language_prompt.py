"""The language that a model with a prompt is told for each stream."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.models.fastconformer.config import PromptConfig
from earshot.models.fastconformer.heads import Prompt
from earshot.streaming.errors import InvalidStreamConfig

AUTO = "auto"
"""The prompt by which NeMo's models find the language out."""


class LanguagePrompt:
    """Places of languages in a model's prompt."""

    def __init__(self, config: PromptConfig) -> None:
        self._places = {_plain(language): place for language, place in config.languages.items()}
        self._known = tuple(config.languages)

    def place(self, language: str | None) -> int:
        """The place of a tag, or of its language in whatever region; None means "auto".

        Raises InvalidStreamConfig for a language that the model does not have.
        """
        asked = _plain(language or AUTO)
        if asked in self._places:
            return self._places[asked]
        same = (
            place for tag, place in self._places.items() if tag.split("-")[0] == asked.split("-")[0]
        )
        if (place := next(same, None)) is None:
            known = ", ".join(self._known)
            told = language or "not told, and the model does not find it out"
            raise InvalidStreamConfig(f"language is {told}: there are {known}")
        return place

    def tell(
        self, prompt: Prompt, encoded: Sequence[Tensor], places: Sequence[int]
    ) -> list[Tensor]:
        """Encoder frames `(T_i, D)` of lanes to frames that know their language."""
        told = []
        for frames, place in zip(encoded, places, strict=True):
            row = torch.tensor([place], device=frames.device)
            told.append(prompt.tell(frames.unsqueeze(0), row)[0])
        return told


def _plain(tag: str) -> str:
    return tag.lower().replace("_", "-")
