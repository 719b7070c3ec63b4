"""Our search on many streams, on a CPU or a GPU."""

from collections.abc import Sequence

import torch

from benchmarks.wfst.ours import Batch, OurSearch
from benchmarks.wfst.streams import Words
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions


class OurStreams:
    """``partials``: read the best path of each stream after each chunk, as a service does."""

    def __init__(
        self,
        graph: Graph,
        options: WfstOptions,
        streams: int,
        device: torch.device,
        *,
        partials: bool = True,
    ) -> None:
        self._ours = OurSearch(graph, options, streams, device)
        self._partials = partials
        self._chunks: Sequence[Batch] = []

    def prepare(self, chunks: Sequence[Batch]) -> None:
        """They lie on the device."""
        self._chunks = chunks

    def start(self) -> None:
        """Begin all streams anew."""
        self._ours.start()

    def advance(self, index: int) -> None:
        """One launch for the chunk, and one for the results."""
        self._ours.advance(self._chunks[index])
        if self._partials:
            self._ours.best(finalize=False)

    def words(self) -> list[Words]:
        """Of each stream."""
        return [best.words for best in self._ours.best(finalize=False)]
