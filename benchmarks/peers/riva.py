"""riva-asrlib-decoder (PyPI, 0.4.4): Kaldi's decoder for CUDA, as Riva uses it.

Its wheel has machine code up to compute capability 8.0; for newer GPUs the driver compiles its 8.6
PTX at first use, which the warm-up round takes. It waits for the default stream only.
"""

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import Tensor

from benchmarks.wfst.ours import Batch
from benchmarks.wfst.streams import NotRun, Words

MAX_LANES = 400  # its default
FRAME_SECONDS = 0.04  # only for the times of words
COPY_THREADS = 2
FRAMES_PER_PASS = 50


@dataclass(frozen=True)
class RivaGraph:
    """Its files and what it needs to know."""

    fst: Path
    words: Path
    vocab_size: int
    beam: float
    lattice_beam: float
    max_active: int


class RivaStreams:
    """Its online decoder: best paths after each chunk. Python gets no alternatives from it."""

    def __init__(self, graph: RivaGraph, streams: int) -> None:
        riva = _module()
        lanes = min(streams, MAX_LANES)
        options = _options(riva, graph, lanes, channels=2 * max(streams, lanes)).online_opts
        self._decoder = riva.BatchedMappedOnlineDecoderCuda(
            options, str(graph.fst), str(graph.words), graph.vocab_size
        )
        self._groups = [range(i, min(i + lanes, streams)) for i in range(0, streams, lanes)]
        self._first_id = 0
        self._streams = streams
        self._rows: list[list[Tensor]] = []
        self._found: list[Any] = []

    def prepare(self, chunks: Sequence[Batch]) -> None:
        """A tensor for each stream and chunk."""
        self._rows = [_rows(chunk) for chunk in chunks]

    def start(self) -> None:
        """A fresh number and a channel for each stream."""
        self._first_id += self._streams
        for i in range(self._streams):
            if not self._decoder.try_init_corr_id(self._first_id + i):
                raise NotRun("it has no free channel")

    def advance(self, index: int) -> None:
        """All streams, as many at a time as it has lanes."""
        rows = self._rows[index]
        self._found = []
        for group in self._groups:
            ids = [self._first_id + i for i in group]
            first, last = [index == 0] * len(group), [index == len(self._rows) - 1] * len(group)
            _, partials = self._decoder.decode_batch(ids, [rows[i] for i in group], first, last)
            self._found += partials

    def words(self) -> list[Words]:
        """Of each stream."""
        return [tuple(each.words) for each in self._found]


class RivaFiles:
    """Its offline decoder: whole utterances to the best of a lattice, made on CPU threads."""

    def __init__(self, graph: RivaGraph, streams: int) -> None:
        riva = _module()
        lanes = min(streams, MAX_LANES)
        self._decoder = riva.BatchedMappedDecoderCuda(
            _options(riva, graph, lanes, channels=2 * lanes),
            str(graph.fst),
            str(graph.words),
            graph.vocab_size,
        )
        self._batch: Batch | None = None
        self._found: list[Any] = []

    def prepare(self, chunks: Sequence[Batch]) -> None:
        """One batch."""
        if len(chunks) != 1:
            raise NotRun("it takes whole utterances only")
        [self._batch] = chunks

    def start(self) -> None:
        """Nothing to begin."""

    def advance(self, index: int) -> None:
        """All of it."""
        assert self._batch is not None
        self._found = self._decoder.decode_nbest(self._batch.log_probs, self._batch.lengths)

    def words(self) -> list[Words]:
        """Of each stream."""
        return [tuple(each[0].words) if each else () for each in self._found]


def _module() -> ModuleType:
    try:
        return importlib.import_module("riva.asrlib.decoder.python_decoder")
    except ImportError as error:
        raise NotRun(f"pip install --no-deps riva-asrlib-decoder==0.4.4 ({error})") from error


def _options(riva: ModuleType, graph: RivaGraph, lanes: int, channels: int) -> Any:
    """As in its own tests, with our beams."""
    options = riva.BatchedMappedDecoderCudaConfig()
    options.n_input_per_chunk = FRAMES_PER_PASS
    online = options.online_opts
    online.max_batch_size, online.num_channels = lanes, channels
    online.frame_shift_seconds = FRAME_SECONDS
    online.determinize_lattice = True
    online.use_lattice_postprocessor = True
    online.lattice_postprocessor_opts.acoustic_scale = 1.0
    online.lattice_postprocessor_opts.lm_scale = 1.0
    online.lattice_postprocessor_opts.word_ins_penalty = 0.0
    online.lattice_postprocessor_opts.nbest = 1
    online.num_decoder_copy_threads = COPY_THREADS
    online.num_post_processing_worker_threads = max(1, (os.cpu_count() or 1) - COPY_THREADS)
    online.decoder_opts.default_beam = graph.beam
    online.decoder_opts.lattice_beam = graph.lattice_beam
    online.decoder_opts.max_active = graph.max_active
    return options


def _rows(chunk: Batch) -> list[Tensor]:
    lengths: list[int] = chunk.lengths.tolist()
    return [chunk.log_probs[i, :length].contiguous() for i, length in enumerate(lengths)]
