"""Our search as the benchmarks drive it: many streams at once, in chunks or whole."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import (
    WfstHypothesis,
    WfstOptions,
    WfstSearch,
    WfstSearchConfig,
)

NEXT_TO_NO_ALTERNATIVES = 1e-3
"""A lattice_beam that remembers only what costs the same; 0 is not allowed."""


@dataclass(frozen=True)
class Batch:
    """Streams that are searched side by side: ``log_probs`` (B, T, V), ``lengths`` (B,) int64."""

    log_probs: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, rows: Sequence[Tensor]) -> "Batch":
        """Of posteriors ``(T, V)``; short ones are padded."""
        lengths = torch.tensor([len(each) for each in rows])
        return cls(torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True), lengths)

    @property
    def frames(self) -> int:
        """Of all streams together."""
        return int(self.lengths.sum())

    def chunks(self, frames: int | None) -> list["Batch"]:
        """Pieces of so many frames; one if None. A stream that has ended has length 0."""
        if frames is None:
            return [self]
        starts = range(0, self.log_probs.shape[1], frames)
        return [
            Batch(
                self.log_probs[:, start : start + frames].contiguous(),
                (self.lengths - start).clamp(0, frames),
            )
            for start in starts
        ]

    def to(self, device: torch.device) -> "Batch":
        """With the log-probabilities there; lengths stay on the host."""
        return Batch(self.log_probs.to(device), self.lengths)


class OurSearch:
    """One search of ``streams`` slots, all with the same options."""

    def __init__(
        self,
        graph: Graph,
        options: WfstOptions,
        streams: int = 1,
        device: torch.device | str = "cpu",
    ) -> None:
        config = WfstSearchConfig(max_tokens=options.max_active)
        self.search = WfstSearch(graph, config, streams, device)
        self.slots = torch.arange(streams)
        for slot in range(streams):
            self.search.set_options(slot, options)

    def start(self) -> None:
        """Begin all streams anew."""
        self.search.reset(self.slots)

    def advance(self, chunk: Batch) -> None:
        """Search one chunk of all streams."""
        self.search.advance(self.slots, chunk.log_probs, chunk.lengths)

    def best(self, *, finalize: bool) -> list[WfstHypothesis]:
        """The best path of each stream."""
        results = self.search.best(self.slots, finalize=finalize)
        return [result.hypothesis for result in results]

    def overflows(self) -> int:
        """Frames that did not find room."""
        return self.search.overflows()

    def tokens(self) -> int:
        """Tokens alive, of all streams together."""
        return sum(self.search.num_tokens(self.slots))
