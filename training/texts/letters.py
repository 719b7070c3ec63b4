"""Trains a `LettersToPhones` on a lexicon: `python -m earshot.training pronunciations`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from earshot.language.g2p.letters_to_phones import (
    LettersConfig,
    LettersNetwork,
    LettersToPhones,
    letters_of,
)
from earshot.language.g2p.lexicon import phone_numbers
from earshot.models.config import PHONE_BLANK
from earshot.models.errors import UnencodableText
from earshot.training.data.batch import pad_tokens
from earshot.training.files.cmudict import Sounds
from earshot.training.network.ctc_losses import ctc_losses
from earshot.training.progress_bar import progress_bar

Entry = tuple[list[int], tuple[int, ...]]
"""Letters and phones by number."""

LEAST_ENTRIES = 2  # one to learn, one to be asked
HELD_OUT = 50  # one word in so many is not trained on


@dataclass(frozen=True)
class LettersTraining:
    """AdamW with a rate that falls like a cosine."""

    epochs: int = 12
    batch: int = 256
    peak_rate: float = 3e-3
    seed: int = 1


def entries_of(lexicon: Mapping[str, Sounds], phones: Sequence[str]) -> list[Entry]:
    """Entries written in letters, in the order of the lexicon; `phones` are the model's."""
    number = phone_numbers(phones)
    entries: list[Entry] = []
    for word, said in lexicon.items():
        try:
            entries.append((letters_of(word), tuple(number[phone] for phone in said)))
        except UnencodableText:
            continue
    return entries


def train_letters(
    entries: Sequence[Entry], phones: int, config: LettersConfig, training: LettersTraining
) -> tuple[LettersNetwork, float]:
    """The network, and the share of held-out words that it gets wrong.

    There have to be `LEAST_ENTRIES`.
    """
    torch.manual_seed(training.seed)
    held_out = entries[::HELD_OUT]
    learned = [entry for place, entry in enumerate(entries) if place % HELD_OUT]
    network = LettersNetwork(phones, config)
    optimiser = torch.optim.AdamW(network.parameters(), lr=training.peak_rate)
    updates = training.epochs * math.ceil(len(learned) / training.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, updates)
    for batch in progress_bar(_batches(learned, training), total=updates, unit="update"):
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(_loss(network, batch))
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        schedule.step()
    network.eval()
    return network, error_rate(LettersToPhones(network), held_out)


def error_rate(letters: LettersToPhones, entries: Sequence[Entry]) -> float:
    """The share of words with another pronunciation than the lexicon's."""
    said = letters.pronounce_all([word for word, _ in entries])
    return sum(a != b for a, (_, b) in zip(said, entries, strict=True)) / len(entries)


def _batches(entries: Sequence[Entry], training: LettersTraining) -> Iterator[list[Entry]]:
    """Every epoch shuffled; words of similar length together, so that little is padding."""
    for epoch in range(training.epochs):
        rng = np.random.default_rng((training.seed, epoch))
        lengths = [len(letters) for letters, _ in entries] + rng.uniform(0.0, 2.0, len(entries))
        order = np.argsort(lengths)
        starts = rng.permutation(np.arange(0, len(order), training.batch))
        for start in starts:
            yield [entries[place] for place in order[start : start + training.batch]]


def _loss(network: LettersNetwork, batch: Sequence[Entry]) -> Tensor:
    letters, lengths = pad_tokens([row for row, _ in batch])
    phones, counts = pad_tokens([row for _, row in batch])
    log_probs = network(letters, lengths)
    losses = ctc_losses(log_probs, lengths * network.head.rate, phones, counts, PHONE_BLANK)
    return (losses / counts).mean()
