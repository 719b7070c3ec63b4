"""Claim: the CUDA half gives what the CPU half gives, to the last bit, on real recordings.

``python -m benchmarks.cuda.cuda_equality build/cuda_emulator MANIFEST`` runs nvcc's kernels on the
emulated device beside those of the CPU, over the bundled model's posteriors: prefix search, and
graph search with phrases boosted, known words and a new one. Best results are compared after every
chunk, lists and lattices at the end: words, times, costs. Status 1 where something differs.
"""

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from emulator import Emulator, Settings, load

from benchmarks.wfst.bundled import posteriors, recordings
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.words.fitted_words import words_of

CHUNK_FRAMES = 22
LISTED = 10
NEW_WORD = (12, 7, 23, 30)  # tokens that no word of the graph may be spelled in
OPTIONS = WfstOptions(beam=12.0, max_active=3_000)
SLOT = torch.tensor([0])

Search = PrefixSearch | WfstSearch


@dataclass(frozen=True)
class Compared:
    """One recording: how many frames, and the first thing that differs, if any does."""

    text: str
    frames: int
    difference: str


class Pair:
    """A search on both devices, which is asked the same."""

    def __init__(self, here: Search, there: Search) -> None:
        self._both = (here, there)

    def compare(self, utterance: Utterance) -> Compared:
        """From a fresh slot to the end of the recording."""
        rows = torch.from_numpy(utterance.log_probs)[None]
        for search in self._both:
            search.reset(SLOT)
        for start in range(0, rows.shape[1], CHUNK_FRAMES):
            self._advance(rows[:, start : start + CHUNK_FRAMES].contiguous())
            if difference := self._differs(f"after frame {start}", lambda s: s.best(SLOT)):
                return Compared(utterance.text, rows.shape[1], difference)
        ends = [("list", _list), ("lattice", _lattice)]
        found = (self._differs(name, ask) for name, ask in ends)
        return Compared(utterance.text, rows.shape[1], next(filter(None, found), ""))

    def _advance(self, rows: torch.Tensor) -> None:
        for search in self._both:
            search.advance(SLOT, rows.to(search.device), torch.tensor([rows.shape[1]]))

    def _differs(self, when: str, ask: Callable[[Search], object]) -> str:
        here, there = map(ask, self._both)
        return "" if repr(here) == repr(there) else f"{when}: {here} here, {there} there"


def _list(search: Search) -> object:
    if isinstance(search, PrefixSearch):
        return search.nbest(0, LISTED)
    return search.nbest([0], LISTED)


def _lattice(search: Search) -> object:
    """Whole: NumPy would leave the middle of long arrays out."""
    if isinstance(search, PrefixSearch):
        return None
    [lattice] = search.lattices([0])
    parts = vars(lattice)
    return {
        name: part.tolist() if hasattr(part, "tolist") else part for name, part in parts.items()
    }


def prefix_pair(loaded: LoadedModel, device: torch.device, phrases: Sequence[str]) -> Pair:
    """Over the model's tokens, phrases boosted."""
    tokenizer = loaded.tokenizer
    boosts = [BoostPhrase(tuple(tokenizer.encode(phrase)), 2.0) for phrase in phrases]
    searches = []
    for each in (torch.device("cpu"), device):
        search = PrefixSearch(PrefixSearchConfig(), 1, tokenizer.vocab_size, each)
        search.set_boost(0, BoostTable.compile(boosts, tokenizer.vocab_size))
        searches.append(search)
    return Pair(*searches)


def graph_pair(graph: Graph, device: torch.device, phrases: Sequence[str]) -> Pair:
    """Words that the graph knows are boosted, and one that it does not."""
    known = {text: number for number, text in enumerate(graph.word_texts)}
    said = [tuple(known[word] for word in phrase.split()) for phrase in phrases]
    table = WordBoostTable.compile(
        [*(WordPhrase(words, 3.0) for words in said), WordPhrase((NEW_WORD,), 2.0)], graph
    )
    searches = []
    for each in (torch.device("cpu"), device):
        search = WfstSearch(graph, WfstSearchConfig(max_tokens=3_000), 1, each)
        search.set_options(0, OPTIONS)
        search.set_boost(0, table)
        searches.append(search)
    return Pair(*searches)


def compare_all(
    emulator: Emulator,
    manifest: Path,
    per_corpus: int,
    phrases: Sequence[str] = ("coffee", "the"),
    corpora: Sequence[str] | None = None,
) -> Iterator[tuple[str, Compared]]:
    """Of both searches, recording by recording; each in an order of threads of its own."""
    loaded = load_model(bundled_model_dir(), torch.device("cpu"))
    graph = read_graph(bundled_model_dir() / "lm.graph.xz", UnpackedCopies.of_user())
    words = words_of(graph, loaded)
    chosen = recordings(manifest, per_corpus, seed=1, corpora=corpora)
    emulator.restart()
    for name, pair, of_words in (
        ("prefixes", prefix_pair(loaded, emulator.device, phrases), None),
        ("graph", graph_pair(graph, emulator.device, phrases), words),
    ):
        for utterance in posteriors(loaded, chosen, of_words):
            emulator.restart(Settings(seed=zlib.crc32(utterance.text.encode())))
            yield name, pair.compare(utterance)


def main() -> None:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="where the emulated device was built")
    parser.add_argument("manifest", type=Path, help="recordings: see docs/training.md")
    parser.add_argument("--per-corpus", type=int, default=20)
    parser.add_argument("--phrases", nargs="*", default=["coffee", "the", "brown sugar"])
    arguments = parser.parse_args()
    frames = {"prefixes": 0, "graph": 0}
    equal = different = 0
    emulator = load(arguments.build)
    for name, found in compare_all(
        emulator, arguments.manifest, arguments.per_corpus, arguments.phrases
    ):
        frames[name] += found.frames
        equal, different = equal + (not found.difference), different + bool(found.difference)
        if found.difference:
            print(f"{name}, {found.text!r}: {found.difference}")
        print(f"\r{name}: {equal} equal, {different} not", end="", file=sys.stderr, flush=True)
    print(f"\n{equal} equal, {different} not; frames: {frames}")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
