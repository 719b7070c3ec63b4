"""What an epoch is made of: which recordings, joined how, in which batches. A pure function of seed and epoch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from models.training.config import DataConfig
from models.training.corpus import Utterance

JOIN_SHARES = {1: 0.4, 2: 0.15, 3: 0.15, 4: 0.15, 5: 0.15}  # how many short clips make one utterance, and how often


@dataclass(frozen=True)
class Example:
    """One training utterance: the recordings `members` (indices), one after another, `seconds` in all."""

    members: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class Sampler:
    """Plans epochs over `utterances`."""

    utterances: Sequence[Utterance]
    data: DataConfig
    batch_seconds: float
    seed: int

    def _draws(self, rng: np.random.Generator) -> list[int]:
        """Indices of this epoch's recordings: a corpus drawn 2.3 times comes twice, and 30 % of it once more."""
        drawn: list[int] = []
        for index, utterance in enumerate(self.utterances):
            times = self.data.draws_per_epoch.get(utterance.corpus, 0.0)
            count = int(times) + int(rng.random() < times % 1)
            if utterance.seconds <= self.data.max_seconds:
                drawn.extend([index] * count)
        return drawn

    def _joined(self, rng: np.random.Generator, indices: list[int]) -> Iterator[tuple[int, ...]]:
        """Cuts each speaker's shuffled clips into runs of random length."""
        by_speaker: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index in rng.permutation(np.array(indices, dtype=np.int64)).tolist():
            by_speaker[self.utterances[index].corpus, self.utterances[index].speaker].append(index)
        sizes, shares = list(JOIN_SHARES), list(JOIN_SHARES.values())
        for clips in by_speaker.values():
            start = 0
            while start < len(clips):
                size = int(rng.choice(sizes, p=shares))
                run = clips[start : start + size]
                while len(run) > 1 and sum(self.utterances[i].seconds for i in run) > self.data.max_seconds:
                    run.pop()
                start += len(run)
                yield tuple(run)

    def examples(self, epoch: int) -> list[Example]:
        """All examples of `epoch`, in no particular order."""
        rng = np.random.default_rng((self.seed, epoch))
        drawn = self._draws(rng)
        short = {i for i in drawn if self.utterances[i].corpus in self.data.joined_corpora}
        members: list[tuple[int, ...]] = [(i,) for i in drawn if i not in short]
        members.extend(self._joined(rng, [i for i in drawn if i in short]))
        return [Example(run, sum(self.utterances[i].seconds for i in run)) for run in members]

    def batches(self, epoch: int) -> list[list[Example]]:
        """Batches of similar length and at most `batch_seconds`, padding included.

        The first epoch goes from short to long, which leaves the blank plateau sooner (Amodei et al. 2016,
        "Deep Speech 2", section 3.2, SortaGrad); later ones are shuffled.
        """
        rng = np.random.default_rng((self.seed, epoch, 1))
        examples = self.examples(epoch)
        jitter = rng.uniform(0.9, 1.1, size=len(examples))
        order = np.argsort([example.seconds for example in examples] * jitter, kind="stable")
        batches: list[list[Example]] = [[]]
        longest = 0.0
        for position in order.tolist():
            example = examples[position]
            longest = max(longest, example.seconds)
            if batches[-1] and longest * (len(batches[-1]) + 1) > self.batch_seconds:
                batches.append([])
                longest = example.seconds
            batches[-1].append(example)
        if epoch > 0:
            batches = [batches[position] for position in rng.permutation(len(batches))]
        return batches
