"""Build all forms of a graph: sizes, times, memory, and costs of sentences against the ARPA file.

``python -m benchmarks.search.graph_build LM.arpa.gz SENTENCES [--model DIR]``, with a sentence on
each line of ``SENTENCES``, in the words of the language model (`earshot lm clean` writes such).
"""

import argparse
import math
import random
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.report import table, write_report
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph, write_graph
from earshot.language.graphs.build import GRAPH_FORMS, Build, GraphForm, Units, build_graph
from earshot.language.graphs.lexicon import Spelling
from earshot.language.ngrams.arpa import read_arpa
from earshot.language.ngrams.perplexity import ArpaScores
from earshot.models.bundled import bundled_model_dir
from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer

MAX_WORDS = 25
READS = 5
State = tuple[int, int]  # node, words output


class StageTimes:
    """A progress callback that times the stages it hears of."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._what = ""
        self._since = time.process_time()

    def __call__(self, what: str, done: float | None) -> None:
        """Take a stage as over when another one begins."""
        if what != self._what:
            now = time.process_time()
            if self._what:
                self.seconds[self._what] = self.seconds.get(self._what, 0.0) + now - self._since
            self._what, self._since = what, now


class GraphScores:
    """Costs in a compact or normal graph, by walking it token by token."""

    def __init__(self, graph: Graph, tokenizer: Tokenizer) -> None:
        self._graph = graph
        self._tokenizer = tokenizer
        self._ids = {text: i for i, text in enumerate(graph.word_texts)}

    def knows(self, words: list[str]) -> bool:
        """Whether all words are in the graph."""
        return all(word in self._ids for word in words)

    def cost(self, words: list[str]) -> float:
        """Of the best path of a sentence, in nats."""
        target = [self._ids[word] for word in words]
        graph = self._graph
        found = self._closure({(graph.start, 0): 0.0}, target)
        for token in (token for word in words for token in self._tokenizer.encode(word)):
            ahead: dict[State, float] = {}
            for state, cost in found.items():
                first, last = graph.first_label[state[0]], graph.first_arc[state[0] + 1]
                labels = graph.labels[first:last]
                begin, end = np.searchsorted(labels, (token + 1, token + 2))
                self._take(range(first + begin, first + end), state, cost, target, ahead)
            found = self._closure(ahead, target)
        ends = [c + float(graph.finals[n]) for (n, i), c in found.items() if i == len(target)]
        return min(ends, default=math.inf)

    def _closure(self, found: dict[State, float], target: list[int]) -> dict[State, float]:
        todo = list(found)
        while todo:
            state = todo.pop()
            arcs = range(self._graph.first_arc[state[0]], self._graph.first_label[state[0]])
            todo += self._take(arcs, state, found[state], target, found)
        return found

    def _take(
        self, arcs: range, state: State, cost: float, target: list[int], found: dict[State, float]
    ) -> list[State]:
        """Take arcs that output nothing or the next word; the states that got better."""
        better: list[State] = []
        said = state[1]
        for arc in arcs:
            word = int(self._graph.words[arc])
            if not word or (said < len(target) and target[said] == word):
                ahead = int(self._graph.targets[arc]), said + bool(word)
                total = cost + float(self._graph.weights[arc])
                if total < found.get(ahead, math.inf):
                    found[ahead] = total
                    better.append(ahead)
        return better


def speller(tokenizer: Tokenizer, word: str) -> list[Spelling]:
    """The tokenizer's spelling, if it has one."""
    try:
        return [tuple(tokenizer.encode(word))]
    except UnencodableText:
        return []


def measure(build: Build, form: GraphForm, seconds: float) -> list[str]:
    """Write and read the compiled graph; a row of the table."""
    graph = build.graph
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "lm.graph"
        write_graph(path, graph)
        times = []
        for _ in range(READS):
            start = time.process_time()
            read_graph(path)
            times.append(time.process_time() - start)
        size = path.stat().st_size
    epsilons = int((graph.first_label - graph.first_arc[:-1]).sum())
    return [f"`{form}`", f"{graph.num_nodes:,}", f"{graph.num_arcs:,}", f"{epsilons:,}",
            f"{size / 1e6:.0f} MB", f"{min(times):.2f} s", f"{seconds:.0f} s"]  # fmt: skip


def differences(
    graph: Graph, tokenizer: Tokenizer, lm: Path, text: Path, count: int
) -> list[float]:
    """Cost in the graph less cost by the ARPA file, of some sentences."""
    by_book, by_graph = ArpaScores(read_arpa(lm)), GraphScores(graph, tokenizer)
    lines = text.read_text(encoding="utf-8").splitlines()
    random.Random(1).shuffle(lines)
    sentences = (line.split() for line in lines)
    fit = (words for words in sentences if 0 < len(words) < MAX_WORDS and by_graph.knows(words))
    chosen = list(islice(fit, count))
    # The graph has no words that the file does not have.
    told = [sum(cost or 0.0 for cost in by_book.costs(words)) for words in chosen]
    return [by_graph.cost(words) - cost for words, cost in zip(chosen, told, strict=True)]


def main() -> None:
    """Build, measure, and write docs/benchmarks/graph_build.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("lm", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--model", type=Path, default=bundled_model_dir())
    parser.add_argument("--count", type=int, default=800, help="sentences compared")
    options = parser.parse_args()
    tokenizer = load_tokenizer(options.model)
    units = Units(tokenizer.units.symbols, blank_id=0)
    rows = []
    for form in GRAPH_FORMS:
        times, start = StageTimes(), time.process_time()
        build = build_graph(
            options.lm, lambda word: speller(tokenizer, word), units, form=form, progress=times
        )
        times("", None)
        rows.append(measure(build, form, time.process_time() - start))
        print("  ".join(rows[-1]))
        if form == "compact":
            peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            compact, stages = build, times
    found = np.array(
        differences(compact.graph, tokenizer, options.lm, options.sentences, options.count)
    )
    higher = found[found > 0]
    body = f"""
{compact.ngrams:,} n-grams over {compact.words:,} words, {len(units.symbols)} units;
{compact.redundant_states:,} histories had nothing but a back-off and fell away. Memory at the peak,
`compact`: {peak_mb:.0f} MB. Reading a compiled graph checks all of it; the fastest of {READS}
times. All times are of the CPU, on one core.

{table(["form", "nodes", "arcs", "of them epsilon", "file", "read and check", "build"], rows)}

{table(["stage of `compact`", "s"], [[k, f"{v:.1f}"] for k, v in stages.seconds.items()])}

{len(found)} sentences, cost of the best path in the graph less cost by the ARPA file, in nats:
median of the absolute {np.median(abs(found)):.6f}, highest {higher.max(initial=0):.6f};
{(found < -0.01).sum()} are cheaper in the graph by more than 0.01, by up to {-found.min():.2f}: a
path may back off where the model knows the longer n-gram.
"""
    print(write_report("graph_build", "Building decoding graphs", body.lstrip()))


if __name__ == "__main__":
    main()
