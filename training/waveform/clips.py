"""Recordings on the device that trains, ready to be mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.training.data.audio_cache import AudioCache
from earshot.training.data.speech import Source


@dataclass(frozen=True)
class Clips:
    """16-bit samples of many recordings: stretches of a few long tensors."""

    banks: Sequence[Tensor]
    places: Sequence[tuple[int, int, int]]  # bank, first sample, past the last

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int) -> Tensor:
        """Recording `index`: `(N,)` float32 in int16 range, a fresh tensor."""
        bank, start, stop = self.places[index]
        return self.banks[bank][start:stop].float()

    def stretch(self, index: int, start: int, length: int) -> Tensor:
        """`length` samples of a recording from sample `start` on, round and round."""
        recording = self[index]
        begin = start % len(recording)
        rounds = -(-(begin + length) // len(recording))
        return recording.repeat(rounds)[begin : begin + length]


def load_clips(sources: Sequence[Source], device: torch.device) -> Clips:
    """Takes the recordings at `sources` to `device`, whole caches at a time.

    Raises TypeError if a cache holds features instead of samples.
    """
    banks: list[Tensor] = []
    numbers: dict[int, int] = {}
    places = []
    for source in sources:
        cache = source.cache
        if not isinstance(cache, AudioCache):
            raise TypeError(f"{type(cache).__name__} holds no samples")
        if id(cache) not in numbers:
            numbers[id(cache)] = len(banks)
            banks.append(cache.samples(device))
        start, stop = cache.starts[source.index : source.index + 2].tolist()
        places.append((numbers[id(cache)], start, stop))
    return Clips(banks, places)
