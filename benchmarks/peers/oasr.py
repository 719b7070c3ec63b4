"""OASR's CUDA search (github.com/chiendb97/oasr; not the package of that name on PyPI).

It compiles itself at first use: put a checkout on PYTHONPATH, with nvcc on the path and ``pip
install apache-tvm-ffi ninja jinja2 pyyaml``. Its max_active is soft, a chain of epsilon arcs is
followed for three steps, and its label 0 is epsilon in a graph that has any; so posteriors get a
column in front.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.wfst.ours import Batch
from benchmarks.wfst.streams import NotRun, Words
from earshot.decoder_kernels.graph.graph import Graph

MIN_ACTIVE = 30  # this and what follows: its own defaults
CHUNK_FRAMES = 128
NEVER = -1e4


class OasrStreams:
    """Its streaming decoder, a channel for each stream."""

    def __init__(
        self, image: Path, beam: float, lattice_beam: float, max_active: int, streams: int
    ) -> None:
        self._module = _module()
        graph = self._module.wfst_load_graph(str(image))
        self._decoder = int(
            self._module.wfst_create_decoder(
                int(graph), beam, lattice_beam, MIN_ACTIVE, max_active,
                1,  # partial results
                streams, CHUNK_FRAMES,
                0,  # device
                16, 4,  # room for states and candidates, in units of max_active
                1,  # CUDA graphs
                0, 0,  # no lattice; float32
                1,  # streaming
                0,
                3,  # epsilon steps
                0, 0,
                2,  # collect every second step
            )
        )  # fmt: skip
        self._streams = streams
        self._channels = torch.empty(0, dtype=torch.int32)
        self._chunks: list[tuple[Tensor, Tensor]] = []
        self._words = torch.empty(0, dtype=torch.int32)
        self._counts = torch.zeros(streams, dtype=torch.int32)
        self._overflow = torch.zeros(streams, dtype=torch.int32)

    def prepare(self, chunks: Sequence[Batch]) -> None:
        """With the column in front, in pieces that it takes at once."""
        if max(chunk.log_probs.shape[1] for chunk in chunks) > CHUNK_FRAMES:
            raise NotRun(f"it takes at most {CHUNK_FRAMES} frames at once")
        frames = sum(chunk.log_probs.shape[1] for chunk in chunks)
        self._words = torch.empty(self._streams, frames, dtype=torch.int32)
        pad = torch.nn.functional.pad
        self._chunks = [
            (pad(chunk.log_probs, (1, 0), value=NEVER).contiguous(), chunk.lengths.int())
            for chunk in chunks
        ]

    def start(self) -> None:
        """A fresh channel for each stream."""
        for channel in self._channels.tolist():
            self._module.wfst_release_stream(self._decoder, channel)
        opened = [int(self._module.wfst_create_stream(self._decoder)) for _ in range(self._streams)]
        if min(opened) < 0:
            raise NotRun("it has no free channel")
        self._channels = torch.tensor(opened, dtype=torch.int32)

    def advance(self, index: int) -> None:
        """One call for all streams, with partial results."""
        rows, lengths = self._chunks[index]
        self._module.wfst_advance_chunk(
            self._decoder, self._channels, rows, lengths, 1,
            self._words, self._counts, torch.empty_like(self._counts), self._overflow,
        )  # fmt: skip
        if self._overflow.any():
            raise NotRun(f"{int((self._overflow != 0).sum())} streams found no room in it")

    def words(self) -> list[Words]:
        """Of each stream."""
        return [
            tuple(row[:count].tolist())
            for row, count in zip(self._words, self._counts.tolist(), strict=True)
        ]


def write_image(path: Path, graph: Graph) -> None:
    """An explicit graph as its image: finals become arcs into one more state, after the others."""
    images = _import("oasr.decoder.wfst.graph_image")
    first_arc, ends = graph.first_arc.astype(np.int64), np.flatnonzero(graph.finals < np.inf)
    sources = np.concatenate((np.repeat(np.arange(graph.num_nodes), np.diff(first_arc)), ends))
    order = np.argsort(sources, kind="stable")

    def column(arcs: Any, finals: Any) -> Any:
        return np.concatenate((arcs, finals))[order]

    nothing = np.zeros(len(ends), np.int32)
    words = column(graph.words, nothing)
    row_splits = np.searchsorted(sources[order], np.arange(graph.num_nodes + 2))
    image = images.build_image(
        row_splits=row_splits,
        dest=column(graph.targets, nothing + graph.num_nodes),
        ilabel=column(graph.labels, nothing - 1),
        weight=-column(graph.weights, graph.finals[ends]),
        aux_row_splits=np.concatenate(([0], np.cumsum(words != 0))),
        aux_pool=words[words != 0],
        vocab_size=graph.vocab_size + 1,
        epsilon_id=0,
    )
    images.write_image(image, path)


def _module() -> Any:
    try:
        return _import("oasr.jit.wfst_decoder").gen_wfst_decoder_module().build_and_load()
    except (RuntimeError, OSError) as error:
        raise NotRun(f"it does not compile here: {error}") from error


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotRun(
            "put a checkout of chiendb97/oasr on PYTHONPATH, with nvcc and "
            f"apache-tvm-ffi, ninja, jinja2, pyyaml ({error})"
        ) from error
