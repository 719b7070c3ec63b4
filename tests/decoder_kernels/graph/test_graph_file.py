import lzma
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earshot.decoder_kernels.errors import GraphError, GraphFileError, InvalidGraph
from earshot.decoder_kernels.graph.graph import Arc, Graph, units_checksum
from earshot.decoder_kernels.graph.graph_file import _checksum, read_graph, write_graph

ARCS = (Arc(0, 2, 1, 0.5, 1), Arc(0, 0, 0, 1.5, 1), Arc(1, 2, 2, -1.0, 1), Arc(1, 3, 0, 0.25, 0))
SCALARS = ("topology", "start", "vocab_size", "blank_id", "loop_node", "unknown_cost")
ARRAYS = ("first_arc", "first_label", "labels", "words", "weights", "targets", "finals")

many = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def graph() -> Graph:
    return Graph.from_arcs(
        ARCS,
        {1: 0.75},
        2,
        topology="normal",
        vocab_size=3,
        word_texts=("<eps>", "naïve", "字"),
        loop_node=1,
        unknown_cost=7.5,
        units_checksum=units_checksum(["a", "b", "c"]),
    )


@pytest.fixture
def compiled(graph: Graph, tmp_path: Path) -> Path:
    path = tmp_path / "small.graph"
    write_graph(path, graph)
    return path


def rewritten(path: Path, content: np.ndarray) -> Path:
    """A file whose checksum is right whatever it holds."""
    content[24:40] = np.frombuffer(_checksum(content), np.uint8)
    content.tofile(path)
    return path


def test_what_is_read_is_what_was_written(graph: Graph, compiled: Path) -> None:
    read = read_graph(compiled)
    for name in (*SCALARS, "units_checksum"):
        assert getattr(read, name) == getattr(graph, name)
    for name in ARRAYS:
        assert np.array_equal(getattr(read, name), getattr(graph, name))
        assert getattr(read, name).dtype == getattr(graph, name).dtype
    assert list(read.word_texts) == list(graph.word_texts)


def test_a_packed_file_is_the_same_graph(graph: Graph, compiled: Path) -> None:
    packed = compiled.with_name("small.graph.xz")
    write_graph(packed, graph)
    assert lzma.decompress(packed.read_bytes()) == compiled.read_bytes()
    read = read_graph(packed)
    for name in ARRAYS:
        assert np.array_equal(getattr(read, name), getattr(graph, name))
        assert not getattr(read, name).flags.writeable


def test_a_damaged_packed_file_is_refused(graph: Graph, compiled: Path, monkeypatch) -> None:
    packed = compiled.with_name("small.graph.xz")
    write_graph(packed, graph)
    whole = packed.read_bytes()
    for content in (whole[:-8], whole[:50] + b"?" + whole[51:], lzma.compress(b"no graph" * 50)):
        packed.write_bytes(content)
        with pytest.raises(GraphFileError, match=r"small\.graph\.xz is"):
            read_graph(packed)
    packed.write_bytes(whole)
    monkeypatch.setattr("earshot.decoder_kernels.graph.graph_file.MAX_UNPACKED_BYTES", 100)
    with pytest.raises(GraphFileError, match="unpacks to more than 100 bytes"):
        read_graph(packed)


@pytest.mark.parametrize("change", [{"topology": "explicit"}, {"units_checksum": ""}])
def test_all_kinds_of_graphs_can_be_written(graph: Graph, compiled: Path, change) -> None:
    write_graph(compiled, replace(graph, **change))
    assert {name: getattr(read_graph(compiled), name) for name in change} == change


def test_bytes_behind_a_graph_are_not_called_a_cut(compiled: Path) -> None:
    compiled.write_bytes(compiled.read_bytes() + b"more")
    with pytest.raises(GraphFileError, match="is damaged: 4 bytes follow its end"):
        read_graph(compiled)


def test_a_directory_without_a_name_is_named_all_the_same() -> None:
    with pytest.raises(GraphFileError, match=r"^\. cannot be read: Is a directory"):
        read_graph(Path())


def test_a_graph_without_arcs_can_be_written(graph: Graph, compiled: Path) -> None:
    bare = Graph.from_arcs([], {}, 1, topology="compact", vocab_size=1, word_texts=["<eps>"])
    write_graph(compiled, bare)
    assert read_graph(compiled).num_arcs == 0


def test_texts_are_a_sequence(compiled: Path) -> None:
    texts = read_graph(compiled).word_texts
    assert (len(texts), texts[2], texts[-2], texts[1:]) == (3, "字", "naïve", ["naïve", "字"])
    assert "字" in texts
    with pytest.raises(IndexError):
        texts[3]


def test_arrays_are_views_of_the_file_and_read_only(compiled: Path) -> None:
    graph = read_graph(compiled)
    assert not any(getattr(graph, name).flags.writeable for name in ARRAYS)
    assert not any(getattr(graph, name).flags.owndata for name in ARRAYS)


def test_writing_the_same_graph_gives_the_same_bytes(graph: Graph, compiled: Path) -> None:
    before = compiled.read_bytes()
    write_graph(compiled, read_graph(compiled))
    assert compiled.read_bytes() == before


def test_who_has_mapped_a_file_keeps_it_when_it_is_replaced(graph: Graph, compiled: Path) -> None:
    mapped = read_graph(compiled)
    write_graph(compiled, replace(graph, weights=graph.weights + np.float32(1)))
    assert np.array_equal(mapped.weights, graph.weights)
    assert np.array_equal(read_graph(compiled).weights, graph.weights + 1)


def test_a_place_that_cannot_be_written_is_named(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(GraphFileError, match="taken cannot be written"):
        write_graph(tmp_path / "taken", graph)
    with pytest.raises(GraphFileError, match="cannot be written"):
        write_graph(tmp_path / "missing" / "small.graph", graph)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"EARGRAPH", "not a compiled graph"),
        (b"x" * 500, "not a compiled graph"),
        (b"EARGRAPH" + struct.pack("<I", 3) + b"\0" * 500, "version 3; this is version 2"),
        (b"EARGRAPH" + struct.pack("<I", 2) + b"\0" * 500, "sizes in its header"),
    ],
)
def test_what_is_no_compiled_graph_is_refused(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    path = tmp_path / "bad.graph"
    path.write_bytes(content)
    with pytest.raises(GraphFileError, match=f"bad.graph .*{complaint}"):
        read_graph(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match=r"missing.graph cannot be read: No such file"):
        read_graph(tmp_path / "missing.graph")


def test_a_cut_off_file_is_refused_wherever_it_is_cut(compiled: Path) -> None:
    whole = compiled.read_bytes()
    for length in range(len(whole)):
        compiled.write_bytes(whole[:length])
        with pytest.raises(GraphFileError, match=r"empty|not a compiled graph|is cut off"):
            read_graph(compiled)


def test_every_changed_byte_is_noticed(compiled: Path) -> None:
    whole = compiled.read_bytes()
    for at in range(len(whole)):
        compiled.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(GraphFileError):
            read_graph(compiled)


@pytest.mark.parametrize(
    ("at", "form", "value", "complaint"),
    [
        (12, "<I", 3, "topology 3"),
        (16, "<Q", 1 << 63, "sizes in its header contradict"),
        (80, "<Q", 1 << 63, "sizes in its header contradict"),
        (88, "<Q", (1 << 64) - 1, "sizes in its header contradict"),
        (40, "<i", 2, "start 2"),
        (44, "<i", 0, "0 tokens"),
        (48, "<i", 3, "blank 3"),
        (52, "<i", 2, "loop 2"),
        (56, "<d", float("nan"), "unknown word"),
    ],
)
def test_a_hostile_header_is_refused(compiled: Path, at, form, value, complaint: str) -> None:
    content = np.fromfile(compiled, np.uint8)
    content[at : at + struct.calcsize(form)] = np.frombuffer(struct.pack(form, value), np.uint8)
    with pytest.raises(GraphError, match=complaint):
        read_graph(rewritten(compiled, content))


def test_texts_that_lie_about_their_ends_are_refused(compiled: Path) -> None:
    content = np.fromfile(compiled, np.uint8)
    (at,) = (i for i in range(0, len(content) - 24, 8) if content[i : i + 24].view("<i8")[0] == 5)
    for ends, complaint in (
        ((6, 5, 14), "do not follow"),
        ((-1, 11, 14), "do not follow"),
        ((5, 11, 13), "do not follow"),
        ((2**40, 15 - 2**63, 14), "do not follow"),
        ((5, 8, 14), "within a character"),
    ):
        content[at : at + 24] = np.array(ends, "<i8").view(np.uint8)
        with pytest.raises(GraphFileError, match=complaint):
            read_graph(rewritten(compiled, content))


@many
@given(data=st.data())
def test_no_file_leads_a_search_astray(compiled: Path, graph: Graph, data: st.DataObject) -> None:
    """With any bytes changed and a checksum that is right: refused, or a graph that is sound."""
    write_graph(compiled, graph)
    content = np.fromfile(compiled, np.uint8)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(8, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    try:
        read = read_graph(rewritten(compiled, content))
    except GraphError:
        return
    assert read.targets.max(initial=0) < read.num_nodes
    assert read.labels.max(initial=0) <= read.vocab_size
    assert all(isinstance(read.word_texts[word], str) for word in read.words.tolist())
    assert read.first_arc[-1] == read.num_arcs


def test_a_checksum_of_units_that_is_none_is_refused(graph: Graph) -> None:
    with pytest.raises(InvalidGraph, match="checksum of the units"):
        replace(graph, units_checksum="abc")
