from pathlib import Path

import kaldifst
import pytest

from benchmarks.wfst.graph_files import GraphFiles, write_openfst, write_words
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import write_graph
from earshot.language.graphs.explicit import explicit_graph
from earshot.language.graphs.foreign import read_words
from earshot.language.graphs.fst import read_fst


def test_kaldifst_reads_the_explicit_graph(graph: Graph, tmp_path: Path) -> None:
    explicit = explicit_graph(graph, "compact")
    write_openfst(tmp_path / "explicit.fst", explicit)
    theirs = kaldifst.StdConstFst.read(str(tmp_path / "explicit.fst"))
    assert (theirs.start, theirs.num_states) == (explicit.start, explicit.num_nodes)
    found = read_fst(tmp_path / "explicit.fst")
    assert (found.ilabels == explicit.labels).all()
    assert (found.targets == explicit.targets).all()
    assert (found.finals == explicit.finals).all()


def test_words_are_numbered_as_in_the_graph(graph: Graph, tmp_path: Path) -> None:
    write_words(tmp_path / "words.txt", graph)
    assert read_words(tmp_path / "words.txt") == list(graph.word_texts)


def test_a_cache_folder_keeps_what_was_made(graph: Graph, tmp_path: Path) -> None:
    write_graph(tmp_path / "compact.graph", graph)
    files = GraphFiles(tmp_path, arpa=None)
    made = files.openfst()
    before = made.stat().st_mtime_ns
    assert files.openfst().stat().st_mtime_ns == before
    assert files.compact().num_arcs == graph.num_arcs
    assert files.explicit().topology == "explicit"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compact.graph", "explicit.fst"]


def test_the_imported_graph_is_what_import_makes_of_the_file(graph: Graph, tmp_path: Path) -> None:
    write_graph(tmp_path / "compact.graph", graph)
    files = GraphFiles(tmp_path, arpa=None)
    imported = files.imported()
    assert imported.topology == "compact"
    assert imported.num_arcs <= graph.num_arcs < files.explicit().num_arcs
    assert list(imported.word_texts) == list(graph.word_texts)


def test_an_empty_cache_folder_wants_a_language_model(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--arpa"):
        GraphFiles(tmp_path, arpa=None).compact()
