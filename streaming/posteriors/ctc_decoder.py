"""`earshot.CtcDecoder`: texts of log-probabilities, by the search of a decoding graph."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from earshot.decoder_kernels.errors import GraphError
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.models.config import DecodingConfig
from earshot.streaming.assembly.devices import DeviceChoice, device_of
from earshot.streaming.cores import usable_cores
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig, UnusableGraph
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.posteriors.ctc_result import CtcResult
from earshot.streaming.posteriors.ctc_stream import CtcStream
from earshot.streaming.posteriors.ctc_tokens import CtcTokens, FilePath
from earshot.streaming.posteriors.log_probs import Array, LogProbs, read_batch
from earshot.streaming.posteriors.search_slots import Asked, SearchSlots
from earshot.streaming.stream_config import Boost
from earshot.streaming.words.graph_words import GraphWords

MAX_FRAMES = 20_000
"""Of one file or stream: its log-probabilities are kept until words have their times."""

DEFAULT_SEARCH = GraphSearchConfig()


class CtcDecoder:
    """Finds words in the log-probabilities of anybody's CTC model, by a decoding graph.

    It holds the graph and the memory of `max_streams` searches, some megabyte each. Whole batches
    and streams may be decoded from any threads; they share the search, which takes one call at a
    time, and has `threads` of its own.

    graph: a compiled graph, or the file of one, made by `build_graph` or `earshot graph`.
    tokens: those of the model, which the graph was built of.
    search: beams, sizes and weights; what it leaves open is an `lm_weight` of 0.3 and a `beam` of
        10 nats.
    device: "cpu", "cuda", or "auto", which takes a GPU where there is one.
    threads: of the processor, on a CPU; all if absent.
    max_streams: files of a batch that are searched at a time, and streams that may be open.
    max_frames: of a file or stream; longer ones are refused.
    lm_dir: a folder of large language models `NAME.lm` (`earshot lm`), for `lm`.

    Raises UnusableGraph for a graph that cannot be read, or is of other tokens;
    InvalidEngineConfig; InvalidGraph and other KernelErrors where no search can be built.
    """

    def __init__(
        self,
        graph: Graph | FilePath,
        tokens: CtcTokens,
        *,
        search: GraphSearchConfig = DEFAULT_SEARCH,
        device: DeviceChoice = "auto",
        threads: int | None = None,
        max_streams: int = 16,
        max_frames: int = MAX_FRAMES,
        lm_dir: FilePath | None = None,
    ) -> None:
        if max_frames < 1:
            raise InvalidEngineConfig(f"max_frames is {max_frames}, must be 1 or more")
        config = EngineConfig(
            max_streams=max_streams,
            threads=usable_cores() if threads is None else threads,
            graph_search=search.of(DecodingConfig()),
            lm_dir=None if lm_dir is None else Path(lm_dir),
        )
        read = graph if isinstance(graph, Graph) else _read(Path(graph))
        _require_fit(read, tokens)
        words = GraphWords(read, tokens.tokenizer)
        self._slots = SearchSlots(words, config, device_of(device))
        self._lock = threading.Lock()
        self._max_frames = max_frames

    @property
    def vocab_size(self) -> int:
        """V, the columns of log-probabilities, the blank among them."""
        return self._slots.vocab_size

    def decode(
        self,
        log_probs: Array,
        lengths: Array | Sequence[int] | None = None,
        *,
        nbest: int = 1,
        boosts: Iterable[str | Boost] = (),
        lm: str | None = None,
        lm_weight: float | None = None,
    ) -> list[CtcResult]:
        """Find what was said in each file of a batch.

        log_probs: `(B, T, V)` natural logarithms, floats of any width, on any device: a tensor of
            torch, an array of NumPy, or anything with `__dlpack__`.
        lengths: `(B,)` frames of each file; all T if absent.
        nbest: distinct texts of each result at most, 1 to 100.
        boosts: phrases to favour, in plain text or as `Boost(phrase, weight)`.
        lm: language models by name, with their shares, as `"law"` or `"on:0.3,law:0.7"`; `on` is
            the graph's own.
        lm_weight: how much the costs of language models count, in place of the decoder's.

        Raises InvalidLogProbs for another shape or type, values that are no log-probabilities and
        files that are too long; InvalidStreamConfig for what is asked that makes no sense;
        EngineFull where streams have all places; CapacityExceeded for boosts without room.
        """
        batch = read_batch(log_probs, lengths, self.vocab_size, self._max_frames)
        with self._asked(nbest, boosts, lm, lm_weight) as asked:
            results: list[CtcResult] = []
            while len(results) < len(batch.lengths):
                results += self._decoded(batch, len(results), asked)
        return results

    def stream(
        self,
        *,
        nbest: int = 1,
        boosts: Iterable[str | Boost] = (),
        lm: str | None = None,
        lm_weight: float | None = None,
    ) -> CtcStream:
        """Open a stream, to which log-probabilities are pushed as they come.

        It takes one of `max_streams` places until it is finished or closed. Arguments are those of
        `decode`, and so are errors.
        """
        asked = self._request(nbest, boosts, lm, lm_weight)
        try:
            with self._lock:
                [slot] = self._slots.begin(1, asked)
        except BaseException:
            asked.lms.release()
            raise
        return CtcStream(self._slots, slot, asked, self._lock, self._max_frames)

    def _decoded(self, batch: LogProbs, first: int, asked: Asked) -> list[CtcResult]:
        """The results of as many files as there is room for, from the first on."""
        with self._lock:
            slots = self._slots.begin(len(batch.lengths) - first, asked)
            files = range(first, first + len(slots))
            try:
                lengths = [batch.lengths[file] for file in files]
                rows = batch.rows[first : files.stop, : max(lengths)]
                self._slots.advance(slots, rows, lengths)
                frames = [batch.frames(file) for file in files]
                return self._slots.results(slots, frames, asked)
            finally:
                self._slots.free(slots)

    @contextmanager
    def _asked(
        self,
        nbest: int,
        boosts: Iterable[str | Boost],
        lm: str | None,
        lm_weight: float | None,
    ) -> Iterator[Asked]:
        asked = self._request(nbest, boosts, lm, lm_weight)
        try:
            yield asked
        finally:
            asked.lms.release()

    def _request(
        self,
        nbest: int,
        boosts: Iterable[str | Boost],
        lm: str | None,
        lm_weight: float | None,
    ) -> Asked:
        if not 1 <= nbest <= 100:
            raise InvalidStreamConfig(f"nbest is {nbest}, must be 1 to 100")
        return self._slots.asked(nbest, _boosts(boosts), lm, lm_weight)


def _boosts(boosts: Iterable[str | Boost]) -> list[Boost]:
    if isinstance(boosts, str):
        raise InvalidStreamConfig(f"boosts is a list of phrases: [{boosts!r}]")
    made = [Boost(each) if isinstance(each, str) else each for each in boosts]
    if not all(boost.phrase.strip() for boost in made):
        raise InvalidStreamConfig("a boosted phrase is empty")
    return made


def _read(path: Path) -> Graph:
    try:
        return read_graph(path, UnpackedCopies.of_user())
    except GraphError as error:
        raise UnusableGraph(str(error)) from error


def _require_fit(graph: Graph, tokens: CtcTokens) -> None:
    """Raises UnusableGraph for a graph of other tokens, or of another blank."""
    try:
        graph.require_units(tokens.symbols)
    except GraphError as error:
        raise UnusableGraph(str(error)) from error
    if graph.blank_id != tokens.blank_id:
        raise UnusableGraph(f"its blank is token {graph.blank_id}, the model's {tokens.blank_id}")
