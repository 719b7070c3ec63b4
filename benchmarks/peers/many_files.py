"""Claim: offline, `CtcDecoder` decodes files faster than flashlight, alone and many at a time.

``pip install --no-deps flashlight-text kenlm``, then ``python -m benchmarks.peers.many_files CACHE
--arpa LM.arpa.gz``. ``CACHE`` keeps the graph of that model, as for ``wfst_search``.

The bundled model's posteriors over recordings, in its own units, with the same words, spellings and
n-gram for both. Ours are batches of 1, 4, 16 and 64 files on one thread and two, by the slots that
`CtcDecoder` decodes with; their results have ten texts, times, confidences and a lattice.
flashlight takes a file at a time, and gives the best text alone: on two cores it is two processes
with half of the files each. Slots are emptied before the clock runs. Seconds are those that pass,
of the fastest round. The beams are the library's defaults and flashlight's fastest of
``wfst_search``; error rates say what they are worth.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import jiwer
import torch
from torch.nn.utils.rnn import pad_sequence

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.graph_files import GraphFiles
from benchmarks.wfst.posteriors import Utterance, total_frames
from earshot.decoder_kernels.graph.graph import Graph
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.config import DecodingConfig
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.posteriors.search_slots import SearchSlots
from earshot.streaming.words.graph_words import GraphWords

try:
    from benchmarks.peers import flashlight
except ModuleNotFoundError as error:
    raise SystemExit(
        f"{error.name} is missing: pip install --no-deps flashlight-text kenlm"
    ) from error

CORPORA = ("coffee", "librispeech", "speechocean")
AT_A_TIME = (1, 4, 16, 64)
CORES = (1, 2)
FILES = 128
ROUNDS = 3
FRAME_S = 0.04
SCALE = 0.3
THEIR_BEAM = flashlight.FlashlightBeam(32, 16, 10.0)
HEADER = (
    "decoder", "cores", "files at a time", "times real time", "search, s", "results, s",
    "times flashlight's speed", "word errors, %",
)  # fmt: skip


@dataclass(frozen=True)
class Took:
    """Seconds of one pass over all files: of the search, and of what is read from it."""

    search_s: float
    results_s: float
    texts: list[str]

    @property
    def seconds(self) -> float:
        """Of both."""
        return self.search_s + self.results_s


class Ours:
    """The slots of a `CtcDecoder`."""

    def __init__(self, words: GraphWords, cores: int, at_a_time: int) -> None:
        search = GraphSearchConfig(lm_weight=SCALE).of(DecodingConfig())
        config = EngineConfig(max_streams=at_a_time, threads=cores, graph_search=search)
        self._slots = SearchSlots(words, config, torch.device("cpu"))
        self._at_a_time = at_a_time

    def decode(self, heard: Sequence[Utterance]) -> Took:
        """All files, batch after batch, in the order of their length."""
        asked = self._slots.asked(1, (), None, None)
        search_s = results_s = 0.0
        texts: list[str] = []
        for batch in _batches(heard, self._at_a_time):
            rows = [torch.from_numpy(each.log_probs) for each in batch]
            slots = self._slots.begin(len(batch), asked)
            began = time.perf_counter()
            self._slots.advance(slots, pad_sequence(rows, batch_first=True), [*map(len, rows)])
            searched = time.perf_counter()
            texts += [result.text for result in self._slots.results(slots, rows, asked)]
            search_s += searched - began
            results_s += time.perf_counter() - searched
            self._slots.free(slots)
        return Took(search_s, results_s, texts)


class Theirs:
    """Flashlight on so many cores."""

    def __init__(self, search: flashlight.FlashlightSearch, cores: int) -> None:
        self._search = search
        self._cores = cores

    def decode(self, heard: Sequence[Utterance]) -> Took:
        """All files; where there are two processes each takes every other one."""
        if self._cores == 1:
            began = time.perf_counter()
            texts = [self._search.decode(each.log_probs) for each in heard]
            return Took(time.perf_counter() - began, 0.0, texts)
        parts = [heard[first :: self._cores] for first in range(self._cores)]
        with _Workers(self._search, parts) as workers:
            began = time.perf_counter()
            decoded = workers.decode()
            seconds = time.perf_counter() - began
        texts = [""] * len(heard)
        for first, part in enumerate(decoded):
            texts[first :: self._cores] = part
        return Took(seconds, 0.0, texts)


class _Workers:
    """Processes that have all they need before the clock runs."""

    def __init__(
        self, search: flashlight.FlashlightSearch, parts: Sequence[Sequence[Utterance]]
    ) -> None:
        fork = multiprocessing.get_context("fork")  # the language model is there once
        pairs = [fork.Pipe() for _ in parts]
        self._pipes = [ours for ours, _ in pairs]
        self._processes = [
            fork.Process(target=_work, args=(search, part, theirs))
            for part, (_, theirs) in zip(parts, pairs, strict=True)
        ]

    def __enter__(self) -> "_Workers":
        for process, pipe in zip(self._processes, self._pipes, strict=True):
            process.start()
            pipe.recv()
        return self

    def decode(self) -> list[list[str]]:
        """The texts of each part."""
        for pipe in self._pipes:
            pipe.send(None)
        return [pipe.recv() for pipe in self._pipes]

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.join()


def _work(search: flashlight.FlashlightSearch, part: Sequence[Utterance], pipe: Connection) -> None:
    pipe.send(None)
    pipe.recv()
    pipe.send([search.decode(each.log_probs) for each in part])


def _batches(heard: Sequence[Utterance], size: int) -> Iterator[Sequence[Utterance]]:
    for first in range(0, len(heard), size):
        yield heard[first : first + size]


def fastest(decode: Callable[[Sequence[Utterance]], Took], heard: Sequence[Utterance]) -> Took:
    """Of a few passes."""
    return min((decode(heard) for _ in range(ROUNDS)), key=lambda took: took.seconds)


def rows(graph: Graph, words: GraphWords, arpa: Path, heard: list[Utterance]) -> list[list[str]]:
    """Lines of the table."""
    spellings = {text: words.tokenizer.encode(text) for text in graph.word_texts[1:]}
    lexicon = flashlight.FlashlightLexicon(arpa, spellings, graph.vocab_size)
    search = flashlight.FlashlightSearch(lexicon, THEIR_BEAM, SCALE, graph.blank_id)
    found = []
    for cores in CORES:
        theirs = fastest(Theirs(search, cores).decode, heard)
        found.append(_row("flashlight", cores, 1, theirs, theirs, heard))
        for at_a_time in AT_A_TIME:
            torch.set_num_threads(cores)
            ours = fastest(Ours(words, cores, at_a_time).decode, heard)
            found.append(_row("ours", cores, at_a_time, ours, theirs, heard))
            print(found[-1], flush=True)
    return found


def _row(
    name: str, cores: int, at_a_time: int, took: Took, theirs: Took, heard: Sequence[Utterance]
) -> list[str]:
    speed = total_frames(heard) * FRAME_S / took.seconds
    errors = 100 * jiwer.wer([each.text for each in heard], took.texts)
    return [
        name, f"{cores}", f"{at_a_time}", f"{speed:,.0f}", f"{took.search_s:.2f}",
        f"{took.results_s:.2f}", f"{theirs.seconds / took.seconds:.1f}", f"{errors:.1f}",
    ]  # fmt: skip


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cache", type=Path)
    parser.add_argument("--arpa", type=Path, required=True)
    parser.add_argument("--per-corpus", type=int, default=43, help="recordings")
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    graph = GraphFiles(asked.cache, asked.arpa, units="tokens").compact()
    loaded = load_model(bundled_model_dir())
    chosen = recordings(SHARED / "speech" / "dev.tsv", asked.per_corpus, 1, CORPORA)
    drawn = posteriors(loaded, chosen)
    heard = drawn[:FILES]
    words = GraphWords(graph, loaded.tokenizer)
    found = rows(graph, words, asked.arpa, heard)
    seconds = total_frames(heard) * FRAME_S
    body = (
        f"{below_claim(__doc__)}\n\nThe {len(heard)} shortest of {len(drawn)} recordings, "
        f"{seconds:,.0f} seconds, in the order of their length; "
        f"{len(graph.word_texts) - 1:,} words.\n\n{table(HEADER, found)}\n"
    )
    show_report("many_files", "Files at a time beside flashlight", body, is_written=asked.write)


if __name__ == "__main__":
    main()
