"""The fit of words that the first pass has not found to what CTC heard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from earshot.models import _native
from earshot.models.config import PHONE_BLANK
from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.u2.u2 import U2Model
from earshot.native.dlpack import dlpack_capsule


class Pronounces(Protocol):
    """A pronouncer in the phones of a model."""

    def pronounce_all(self, words: Iterable[str]) -> Mapping[str, Sequence[Sequence[int]]]:
        """Ways to say words, likeliest first, of those that have any."""


class CtcHearing:
    """Spells words for the head that knows most of them: phones by a pronouncer, else tokens."""

    def __init__(self, model: U2Model, tokenizer: Tokenizer, pronouncer: Pronounces | None) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._pronouncer = pronouncer if model.config.phones else None

    def of(self, memory: Tensor) -> SegmentHearing:
        """Begin with a segment's memory (T, D)."""
        return SegmentHearing(self, memory)

    @property
    def blank_id(self) -> int:
        """The head's."""
        return self._model.blank_id if self._pronouncer is None else PHONE_BLANK

    def log_probs(self, memory: Tensor) -> Tensor:
        """(T', units) of the head."""
        if self._pronouncer is None:
            return self._model.ctc_log_probs(memory).float().cpu().contiguous()
        return self._model.phone_log_probs(memory).float().cpu().contiguous()

    def spellings(self, words: Sequence[str]) -> list[Sequence[int]] | None:
        """Units of each word; None where one has none."""
        if self._pronouncer is not None:
            said = self._pronouncer.pronounce_all(dict.fromkeys(words))
            return [said[word][0] for word in words] if all(w in said for w in words) else None
        try:
            return [self._tokenizer.encode(word) for word in words]
        except UnencodableText:
            return None


class SegmentHearing:
    """CTC's side of one segment."""

    def __init__(self, hearing: CtcHearing, memory: Tensor) -> None:
        self._hearing = hearing
        self._memory = memory

    @cached_property
    def _log_probs(self) -> Tensor:
        with torch.inference_mode():
            return self._hearing.log_probs(self._memory)

    def of_first_words(self, words: Sequence[str]) -> list[float] | None:
        """Log-probabilities of the best paths that spell none, one, ... and all of the words.

        None for words that cannot be spelled.
        """
        spelled = self._hearing.spellings(words)
        if spelled is None:
            return None
        labels = torch.tensor([unit for word in spelled for unit in word], dtype=torch.int64)
        scores = torch.empty(len(labels) + 1)
        _native.score_prefixes(
            dlpack_capsule(self._log_probs),
            dlpack_capsule(labels),
            self._hearing.blank_id,
            dlpack_capsule(scores),
        )
        ends = [0]
        for word in spelled:
            ends.append(ends[-1] + len(word))
        found: list[float] = scores[ends].tolist()
        return found
