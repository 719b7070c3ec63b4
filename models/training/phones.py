"""Phones as a second target, for a block in the middle of the encoder, while training.

A lexicon says how words sound; CTC over those sounds at a lower block teaches it what letters hide
(Krishna 2018, arXiv:1807.06234). The head is not part of the model, and is left behind at export.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from models.ctc import CtcHead
from models.encoder import Encoder
from models.training.batch import Batch
from models.training.config import PhoneConfig
from models.training.corpus import Utterance
from models.training.errors import CorpusError
from models.training.sampler import Example

BLANK = 0
STRESS = re.compile(r"\d$")
VARIANT = re.compile(r"\(\d+\)$")

Phones = tuple[int, ...]


def read_lexicon(path: Path) -> dict[str, tuple[str, ...]]:
    """Words and their first pronunciation, without stress, of a file in the format of cmudict.

    Raises CorpusError if there is no such file, or no pronunciation in it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    entries = (line.split("#")[0].split() for line in lines if not line.startswith(";;;"))
    lexicon = {
        word: tuple(STRESS.sub("", phone) for phone in phones)
        for word, *phones in entries
        if phones and not VARIANT.search(word)
    }
    if not lexicon:
        raise CorpusError(f"{path} holds no pronunciation")
    return lexicon


@dataclass(frozen=True)
class PhoneLabels:
    """How each training utterance sounds; None where the lexicon lacks a word of it."""

    utterances: Sequence[Phones | None]
    count: int  # different phones, the blank included

    @classmethod
    def of(
        cls, utterances: Sequence[Utterance], lexicon: Mapping[str, tuple[str, ...]]
    ) -> PhoneLabels:
        """Looks all words up; phones are numbered from 1 in alphabetical order."""
        phones = sorted({phone for sounds in lexicon.values() for phone in sounds})
        number = {phone: place for place, phone in enumerate(phones, start=BLANK + 1)}
        numbered = {word: tuple(number[each] for each in lexicon[word]) for word in lexicon}

        def sounds(text: str) -> Phones | None:
            words = text.split()
            if any(word not in numbered for word in words):
                return None
            return tuple(phone for word in words for phone in numbered[word])

        return cls([sounds(each.text) for each in utterances], len(phones) + 1)

    def example(self, example: Example) -> Phones | None:
        """The phones of an example's recordings, one after another."""
        found: list[int] = []
        for index in example.members:
            phones = self.utterances[index]
            if phones is None:
                return None
            found.extend(phones)
        return tuple(found)


class PhoneHead(nn.Module):
    """A CTC head over phones on one block of an encoder, whose output it remembers."""

    def __init__(self, encoder: Encoder, labels: PhoneLabels, config: PhoneConfig) -> None:
        super().__init__()
        size = encoder.output_size
        self.norm = nn.LayerNorm(size)
        self.ctc = CtcHead(labels.count, size, BLANK)
        self._labels = labels
        self._output_lengths = encoder.output_lengths
        self._seen = torch.empty(0)
        encoder.layers[config.block - 1].register_forward_hook(self._remember)

    def _remember(self, block: nn.Module, inputs: object, output: Tensor) -> None:
        self._seen = output

    def loss(self, batch: Batch, examples: Sequence[Example]) -> Tensor:
        """CTC loss of the block's output for the batch just encoded, on WeNet's scale.

        That is a sum over phones divided by the number of utterances, of which those with an
        unknown word count zero.
        """
        labels = [self._labels.example(example) for example in examples]
        known = [place for place, phones in enumerate(labels) if phones]
        if not known:
            return self._seen.new_zeros(())
        device = self._seen.device
        phones = [torch.tensor(labels[place], device=device) for place in known]
        loss = self.ctc.loss(
            self.norm(self._seen[known]),
            self._output_lengths(batch.feature_lengths[known]),
            nn.utils.rnn.pad_sequence(phones, batch_first=True),
            torch.tensor([len(each) for each in phones], device=device),
        )
        return loss / len(examples)
