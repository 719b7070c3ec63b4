"""Streams that share a search: frames cut into chunks, in lanes that move about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from emulator import built
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor


def examples(usual: int) -> int:
    """How many a property test draws: more where they are asked for (make thousands, make fresh).

    A third on the emulated device, which takes each under three schedules: the CPU half has them
    all, and `make cuda-fuzz` draws others.
    """
    asked = settings().max_examples
    if asked > settings.get_profile("same").max_examples:
        return asked
    return usual // 3 if built() else usual


@dataclass(frozen=True)
class CutFrames:
    """Log-probabilities ``(T, V)`` and the lengths of the chunks, which sum up to T."""

    frames: Tensor
    cuts: Sequence[int]


class Search(Protocol):
    """What is common to the searches."""

    def advance(self, slots: Tensor, log_probs: Tensor, lengths: Tensor) -> None: ...


@st.composite
def cut_frames(draw: st.DrawFn, vocab_size: int, most_chunks: int, longest_chunk: int) -> CutFrames:
    cuts = draw(st.lists(st.integers(0, longest_chunk), min_size=1, max_size=most_chunks))
    return CutFrames(draw(posteriors(sum(cuts), vocab_size)), cuts)


@st.composite
def posteriors(draw: st.DrawFn, frames: int, vocab_size: int) -> Tensor:
    """Log-probabilities ``(T, V)``: smooth ones, or a few coarse values with many ties."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        spread = draw(st.sampled_from([0.5, 2.0, 5.0]))
        noise = torch.randn(frames, vocab_size, generator=generator)
        return torch.log_softmax(spread * noise, dim=-1)
    coarse = -torch.randint(0, 3, (frames, vocab_size), generator=generator).float()
    if draw(st.booleans()):
        coarse[torch.rand(coarse.shape, generator=generator) < 0.2] = -torch.inf
        coarse[:, draw(st.integers(0, vocab_size - 1))] = -1.0
    return coarse * draw(st.sampled_from([0.25, 0.5, 1.0]))


@st.composite
def slots_for(draw: st.DrawFn, streams: Sequence[object]) -> list[int]:
    """A slot for each stream, in any order; one slot of the search stays empty."""
    return draw(st.permutations(range(len(streams) + 1)))[: len(streams)]


def advance_together(
    search: Search, slots: Sequence[int], streams: Sequence[CutFrames], device: torch.device
) -> None:
    """Search all streams: in one batch those with a chunk left, lanes turned by one each step."""
    waiting = [
        (slot, list(stream.frames.split(list(stream.cuts))))
        for slot, stream in zip(slots, streams, strict=True)
    ]
    while waiting:
        chunks = [chunks.pop(0) for _, chunks in waiting]
        batch = torch.nn.utils.rnn.pad_sequence(chunks, batch_first=True, padding_value=torch.nan)
        lengths = torch.tensor([len(chunk) for chunk in chunks])
        search.advance(torch.tensor([slot for slot, _ in waiting]), batch.to(device), lengths)
        waiting = [entry for entry in waiting[1:] + waiting[:1] if entry[1]]


def change_table_on_the_way(
    search: Any, oracle: Any, frames: Tensor, cut: int, table: Any, device: torch.device
) -> Iterator[None]:
    """Search both parts of slot 0's frames; after each the search and its oracle get the table."""
    for part in (frames[:cut], frames[cut:]):
        search.advance(torch.tensor([0]), part[None].to(device), torch.tensor([len(part)]))
        oracle.advance(part.tolist())
        search.set_boost(0, table)
        oracle.set_boost(table)
        yield
