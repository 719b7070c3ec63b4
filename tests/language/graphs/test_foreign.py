from pathlib import Path

import kaldifst
import numpy as np
import pytest

from earshot.decoder_kernels.errors import GraphError, GraphSourceError
from earshot.decoder_kernels.graph.graph import units_checksum
from earshot.language.graphs.foreign import import_graph

# Compact: "x" is the word ax, "x y" is axy; label 5 is the disambiguation symbol #0.
FST = """\
0 0 1 0
0 1 2 1 0.5
1 1 2 0
1 0 0 0
0 2 3 2 0.25
2 2 3 0
2 0 5 0 1.5
1 2 4 0 Infinity
0 0.125
"""
TOKENS = "<eps> 0\n<blank> 1\nx 2\ny 3\n# 4\n#0 5\n#1 6\n"
WORDS = "<eps> 0\nax 1\naxy 2\n#0 4\n"
UNITS = ["<blank>", "x", "y", "#"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    paths = tmp_path / "TLG.fst", tmp_path / "words.txt", tmp_path / "tokens.txt"
    kaldifst.compile(FST).write(str(paths[0]))
    paths[1].write_text(WORDS)
    paths[2].write_text(TOKENS)
    return paths


def test_a_graph_of_kaldi_is_imported(files, texts_of) -> None:
    graph = import_graph(*files)
    assert (graph.topology, graph.vocab_size, graph.blank_id, graph.start) == ("explicit", 4, 0, 0)
    assert graph.units_checksum == units_checksum(UNITS)
    assert graph.word_texts == ["<eps>", "ax", "axy", "", "#0"]
    assert graph.loop_node == -1
    assert texts_of(graph, (0, 1, 1, 2)) == {
        (1, 1, 2): 0.5 + 0.5 + 0.25 + 1.5 + 0.125,
        (1, 2): 0.5 + 0.25 + 1.5 + 0.125,
    }


def test_disambiguation_symbols_are_epsilon_and_closed_arcs_are_left_out(files) -> None:
    graph = import_graph(*files)
    assert graph.num_arcs == 7
    assert graph.labels.tolist() == [1, 2, 3, 0, 2, 0, 3]


def test_both_forms_of_files_give_the_same_graph(files) -> None:
    vector = import_graph(*files)
    kaldifst.StdConstFst(kaldifst.compile(FST)).write(str(files[0]))
    const = import_graph(*files)
    for name in ("first_arc", "labels", "words", "weights", "targets", "finals"):
        assert np.array_equal(getattr(vector, name), getattr(const, name))


def test_units_of_the_model_are_compared(files) -> None:
    longer = [*UNITS, "<sos/eos>"]
    graph = import_graph(*files, units=longer)
    assert (graph.vocab_size, graph.units_checksum) == (5, units_checksum(longer))
    with pytest.raises(GraphSourceError, match=r"tokens.txt: unit 1 is 'x', that of the model 'z'"):
        import_graph(*files, units=["<blank>", "z", "y", "#"])
    with pytest.raises(GraphSourceError, match="has 4 units, the model 3"):
        import_graph(*files, units=UNITS[:3])


def test_blank_may_have_any_name_and_place(files) -> None:
    files[2].write_text(TOKENS.replace("<blank>", "a").replace("#", "<nothing>", 1))
    with pytest.raises(GraphSourceError, match="say which one is blank"):
        import_graph(*files)
    assert import_graph(*files, blank="<nothing>").blank_id == 3


def test_an_lg_is_imported_for_a_rule(files) -> None:
    kaldifst.compile("0 0 2 1 0.5\n0 0 3 2\n0\n").write(str(files[0]))
    assert import_graph(*files, topology="normal").topology == "normal"
    kaldifst.compile(FST).write(str(files[0]))
    with pytest.raises(GraphError, match="blank is a label"):
        import_graph(*files, topology="normal")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("tokens.txt", "<eps> 0\n<blank> 1\n", "TLG.fst: has the input label 5, but tokens.txt"),
        ("tokens.txt", "<eps> 0\n#0 1\n", "tokens.txt: has no units"),
        ("tokens.txt", "<eps> 0\n<blank> 1\nx 3\n", "no symbol with the number 2"),
        ("tokens.txt", "<blank> 0\nx 1\n", "number 0 is '<blank>'"),
        ("tokens.txt", "<eps> 0\nx\n", "line 2: is not '<symbol> <number>'"),
        ("tokens.txt", "<eps> 0\nx 0\n", "line 2: the number 0 was there before"),
        ("words.txt", "<eps> 0\nax 1\n", "TLG.fst: has the output label 2, but words.txt"),
        ("words.txt", "<eps> 0\nax 999999999\n", "line 2: the number 999999999 is too large"),
        ("words.txt", "", "words.txt: has no symbols"),
        ("words.txt", b"<eps> 0\n\xff 1", "words.txt, line 2: is not UTF-8"),
        ("TLG.fst", b"text", "TLG.fst: is not an OpenFst file"),
    ],
)
def test_files_that_do_not_fit_are_named(files, name: str, content, complaint: str) -> None:
    path = files[0].with_name(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(GraphSourceError, match=complaint):
        import_graph(*files)


def test_a_cycle_of_gain_is_refused(files) -> None:
    kaldifst.compile("0 0 2 1\n0 1 0 0 0.5\n1 0 5 0 -1.0\n0\n").write(str(files[0]))
    with pytest.raises(GraphError, match="cycle of epsilon arcs"):
        import_graph(*files)


def test_a_cycle_that_no_search_takes_is_refused(files) -> None:
    kaldifst.compile("0 0 2 1\n0 1 0 0 0.5\n1 0 5 0 0.0\n0\n").write(str(files[0]))
    with pytest.raises(GraphError, match="epsilon arcs form a cycle"):
        import_graph(*files)


def test_disambiguation_symbols_that_lead_nowhere_are_left_out(files) -> None:
    kaldifst.compile("0 0 2 1\n0 0 5 0 0.5\n0\n").write(str(files[0]))
    assert import_graph(*files).labels.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0 0 2 1 1e30\n0\n", r"has a cost of 1e\+30 nats"),
        ("0 0 2 1 -1e30\n0\n", r"has a cost of 1e\+30 nats"),
        ("0 0 2 1 0.5\n0 1e9\n", r"has a cost of 1e\+09 nats"),
        ("0 0 2 1 Infinity\n0\n", "has no word that can be said"),
        ("0 0 2 0\n0\n", "has no word that can be said"),
        ("0 0 2 1 0.5\n", "has no state to end at"),
    ],
)
def test_what_nobody_can_mean_is_refused(files, text: str, complaint: str) -> None:
    kaldifst.compile(text).write(str(files[0]))
    with pytest.raises(GraphSourceError, match=f"TLG.fst: {complaint}"):
        import_graph(*files)


def test_missing_files_are_named(files) -> None:
    for path in files:
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(GraphSourceError, match=f"{path.name}: cannot be read"):
            import_graph(*files)
        path.write_bytes(content)
