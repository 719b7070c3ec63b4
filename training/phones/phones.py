"""Phones as a second target: of the model's own head, or of one on a block in the middle.

A lexicon says how words sound; CTC over those sounds teaches a network what letters hide
(Krishna 2018, arXiv:1807.06234). A head in the middle is left behind at export; the model's own,
on the last block, is what a graph spelled in phones searches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from earshot.language.g2p.lexicon import Phones, phone_numbers
from earshot.models.config import PHONE_BLANK
from earshot.models.layers.ctc import CtcHead
from earshot.models.u2.u2 import U2Model
from earshot.training.corpus.utterance import Utterance
from earshot.training.data.batch import Batch, pad_tokens
from earshot.training.data.sampler import Example
from earshot.training.errors import CorpusError
from earshot.training.files.cmudict import phone_names
from earshot.training.network.ctc_losses import ctc_losses
from earshot.training.phones.phone_denominator import PhoneDenominator
from earshot.training.phones.phone_trigrams import phone_trigrams
from earshot.training.recipe.config import PhoneConfig


@dataclass(frozen=True)
class PhoneLabels:
    """How each training utterance sounds; None where the lexicon lacks a word of it."""

    utterances: Sequence[Phones | None]
    count: int  # different phones, the blank included

    @classmethod
    def of(
        cls, utterances: Sequence[Utterance], lexicon: Mapping[str, tuple[str, ...]]
    ) -> PhoneLabels:
        """Looks all words up; phones are numbered from 1 in alphabetical order.

        Raises CorpusError if that leaves no utterance.
        """
        phones = phone_names(lexicon)
        number = phone_numbers(phones)
        numbered = {word: tuple(number[each] for each in lexicon[word]) for word in lexicon}

        def sounds(text: str) -> Phones | None:
            words = text.split()
            if any(word not in numbered for word in words):
                return None
            return tuple(phone for word in words for phone in numbered[word])

        labels = [sounds(each.text) for each in utterances]
        if not any(labels):
            raise CorpusError("phones.lexicon: it lacks a word in every utterance")
        return cls(labels, len(phones) + 1)

    def trigrams(self) -> npt.NDArray[np.float32]:
        """How likely each phone is after two others in these utterances."""
        return phone_trigrams([each for each in self.utterances if each], self.count)

    def example(self, example: Example) -> Phones | None:
        """The phones of an example's recordings, one after another."""
        found: list[int] = []
        for index in example.members:
            phones = self.utterances[index]
            if phones is None:
                return None
            found.extend(phones)
        return tuple(found)


class SideHead(nn.Module):
    """A CTC head on a block in the middle, with the norm that a block's output lacks."""

    def __init__(self, size: int, phones: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.ctc = CtcHead(phones, size, PHONE_BLANK)

    def forward(self, seen: Tensor) -> Tensor:
        """A block's output (B, T, D) to log-probabilities (B, T, P)."""
        log_probs: Tensor = self.ctc(self.norm(seen))
        return log_probs


class PhoneLoss:
    """The loss over phones of the batch that a model has just encoded."""

    def __init__(
        self, model: U2Model, labels: PhoneLabels, config: PhoneConfig, trigrams: Tensor
    ) -> None:
        self.config = config
        self.side_head: SideHead | None = None
        self._labels = labels
        self._denominator: PhoneDenominator | None = None
        if config.sequence_from_step is not None:
            self._denominator = PhoneDenominator(trigrams)
        self._output_lengths = model.encoder.output_lengths
        self._rate = 1 if config.block is not None else config.rate
        self._seen = torch.empty(0)
        if config.block is None:
            assert model.phone_ctc is not None
            self._head: nn.Module = model.phone_ctc
            model.encoder.register_forward_hook(self._remember)
        else:
            self._head = self.side_head = SideHead(model.encoder.output_size, labels.count)
            model.encoder.layers[config.block - 1].register_forward_hook(self._remember)

    def _remember(
        self, module: nn.Module, inputs: object, output: Tensor | tuple[Tensor, Tensor]
    ) -> None:
        self._seen = output if isinstance(output, Tensor) else output[0]

    def to(self, device: torch.device) -> PhoneLoss:
        """The same, with what it holds on `device`."""
        if self._denominator is not None:
            self._denominator.to(device)
        if self.side_head is not None:
            self.side_head.to(device)
        return self

    def of(self, batch: Batch, examples: Sequence[Example], step: int) -> Tensor:
        """CTC or CTC-CRF loss for the batch just encoded, on WeNet's scale.

        That is a sum over phones divided by the number of utterances, of which those with an
        unknown word count zero.
        """
        labels = [self._labels.example(example) for example in examples]
        known = [place for place, phones in enumerate(labels) if phones]
        if not known:
            return self._seen.new_zeros(())
        log_probs = self._head(self._seen[known])
        lengths = self._rate * self._output_lengths(batch.feature_lengths[known])
        phones, counts = pad_tokens([labels[place] or () for place in known])
        device = log_probs.device
        loss = ctc_losses(log_probs, lengths, phones.to(device), counts.to(device), PHONE_BLANK)
        if self._denominator is not None and step >= (self.config.sequence_from_step or 0):
            # Of an utterance too short for its phones, which costs zero, there is no quotient.
            others = self._denominator.log_sum(log_probs, lengths) * (loss > 0)
            loss = (1.0 + self.config.sequence_ctc_share) * loss + others
        return loss.sum() / len(examples)
