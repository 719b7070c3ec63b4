"""The graphs of a benchmark: compiled ones in a cache folder, and files of them that peers read."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.language.graphs.explicit import explicit_graph
from earshot.language.graphs.fst import Fst, write_fst

REPOSITORY = Path(__file__).resolve().parents[2]


class GraphFiles:
    """A cache folder for one language model: its compact graph, its explicit one, peers' files.

    ``words``: a file with the words to build, one on each line; all of the model's if absent.
    ``units``: what they are spelled in, as for ``earshot graph build``.
    """

    def __init__(
        self,
        cache: Path,
        arpa: Path | None,
        words: Path | None = None,
        units: str | None = None,
    ) -> None:
        self._cache = cache
        self._arpa = arpa
        self._words = words
        self._units = units
        cache.mkdir(parents=True, exist_ok=True)

    def compact(self) -> Graph:
        """The compact graph, built by ``earshot graph build`` if the folder does not hold it."""
        return read_graph(self._made("compact.graph", self._build))

    def explicit(self) -> Graph:
        """T ∘ LG of the compact graph."""
        return explicit_graph(self.compact(), "compact")

    def openfst(self) -> Path:
        """The explicit graph as OpenFst's const form."""
        return self._made("explicit.fst", lambda path: write_openfst(path, self.explicit()))

    def imported(self) -> Graph:
        """What ``earshot graph import`` makes of that file: the CTC rule is taken out again."""
        return read_graph(self._made("imported.graph", self._import))

    def _made(self, name: str, make: Callable[[Path], None]) -> Path:
        """The file of that name; what was made half is never taken for it."""
        path = self._cache / name
        if not path.exists():
            part = path.with_suffix(".part")
            make(part)
            part.rename(path)
        return path

    def _build(self, path: Path) -> None:
        if self._arpa is None:
            raise SystemExit(f"{self._cache} holds no compact.graph: say --arpa, to build one")
        options = ["--lm", self._arpa.resolve(), "--out", path.resolve()]
        options += ["--words", self._words.resolve()] if self._words else []
        options += ["--units", self._units] if self._units else []
        _graph_command("build", *options)

    def _import(self, path: Path) -> None:
        graph = self.compact()
        words = self._made("words.txt", lambda part: write_words(part, graph))
        tokens = self._made("tokens.txt", lambda part: write_tokens(part, graph))
        tables = ["--words", words.resolve(), "--tokens", tokens.resolve()]
        _graph_command("import", self.openfst().resolve(), *tables, "--out", path.resolve())


def _graph_command(*arguments: object) -> None:
    command = [sys.executable, "-m", "earshot.service", "graph", *map(str, arguments)]
    subprocess.run(command, cwd=REPOSITORY, check=True)


def write_openfst(path: Path, graph: Graph) -> None:
    """An explicit graph in the layout of Kaldi's decoders: input label = token + 1."""
    fst = Fst(
        graph.start,
        graph.first_arc.astype("int64"),
        graph.labels,
        graph.words,
        graph.weights,
        graph.targets,
        graph.finals,
    )
    write_fst(path, fst)


def write_words(path: Path, graph: Graph) -> None:
    """words.txt: a word and its id on each line."""
    lines = (f"{text} {i}\n" for i, text in enumerate(graph.word_texts))
    path.write_text("".join(lines), encoding="utf-8")


def write_tokens(path: Path, graph: Graph) -> None:
    """tokens.txt: a name and its input label on each line; a graph knows of units by number."""
    names = (f"{i}" if i != graph.blank_id else "<blank>" for i in range(graph.vocab_size))
    lines = (f"{name} {label}\n" for label, name in enumerate(("<eps>", *names)))
    path.write_text("".join(lines), encoding="utf-8")
