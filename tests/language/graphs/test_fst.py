from pathlib import Path

import kaldifst
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.graphs.fst import Fst, read_fst, write_fst

ARRAYS = ("first_arc", "ilabels", "olabels", "weights", "targets", "finals")
TEXT = "0 1 3 1 0.5\n0 2 0 0 1.5\n1 1 2 0\n1 2 3 2 -0.25\n2 0.75\n"
many = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def fst() -> Fst:
    return Fst.from_columns(
        start=0,
        finals=np.array([np.inf, np.inf, 0.75]),
        sources=np.array([1, 0, 1, 0]),
        ilabels=np.array([2, 3, 3, 0]),
        olabels=np.array([0, 1, 2, 0]),
        weights=np.array([0.0, 0.5, -0.25, 1.5]),
        targets=np.array([1, 1, 2, 2]),
    )


def equal(one: Fst, other: Fst) -> bool:
    return one.start == other.start and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS
    )


def kaldifst_file(path: Path, kind: str) -> Path:
    compiled = kaldifst.compile(TEXT)
    (kaldifst.StdConstFst if kind == "const" else kaldifst.StdVectorFst)(compiled).write(str(path))
    return path


@pytest.mark.parametrize("kind", ["const", "vector"])
def test_both_forms_that_openfst_writes_are_read(kind: str, fst: Fst, tmp_path: Path) -> None:
    assert equal(read_fst(kaldifst_file(tmp_path / "a.fst", kind)), fst)


def test_what_is_written_is_read_by_openfst_and_by_us(fst: Fst, tmp_path: Path) -> None:
    write_fst(tmp_path / "a.fst", fst)
    assert equal(read_fst(tmp_path / "a.fst"), fst)
    theirs = kaldifst.StdConstFst.read(str(tmp_path / "a.fst"))
    again = kaldifst.compile(TEXT)
    assert theirs.to_str() == again.to_str()
    assert theirs.num_input_epsilons(0) == 1


@pytest.mark.parametrize("kind", ["const", "vector"])
def test_symbol_tables_in_the_file_are_passed_over(kind: str, fst: Fst, tmp_path: Path) -> None:
    symbols = kaldifst.SymbolTable()
    for name in ("<eps>", "x", "y", "z"):
        symbols.add_symbol(name)
    compiled = kaldifst.compile(TEXT)
    compiled.input_symbols = symbols
    compiled.output_symbols = symbols
    form = kaldifst.StdConstFst if kind == "const" else kaldifst.StdVectorFst
    form(compiled).write(str(tmp_path / "a.fst"))
    assert b"<eps>" in (tmp_path / "a.fst").read_bytes()
    assert equal(read_fst(tmp_path / "a.fst"), fst)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"abc", "cut off"),
        (b"no transducer at all", "not an OpenFst file"),
    ],
)
def test_other_files_are_refused(content: bytes, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "a.fst").write_bytes(content)
    with pytest.raises(GraphSourceError, match=f"a.fst: .*{complaint}"):
        read_fst(tmp_path / "a.fst")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"vector", b"edited", "of type 'edited'"),
        (b"standard", b"lattice4", "arcs of type 'lattice4'"),
    ],
)
def test_other_kinds_of_transducers_are_refused(old, new, complaint: str, tmp_path: Path) -> None:
    path = kaldifst_file(tmp_path / "a.fst", "vector")
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(GraphSourceError, match=complaint):
        read_fst(path)


def test_a_missing_and_an_empty_transducer_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphSourceError, match="cannot be read: No such file"):
        read_fst(tmp_path / "missing.fst")
    kaldifst.StdVectorFst().write(str(tmp_path / "a.fst"))
    with pytest.raises(GraphSourceError, match="no start state"):
        read_fst(tmp_path / "a.fst")


@pytest.mark.parametrize("kind", ["const", "vector"])
def test_a_cut_off_file_is_refused(kind: str, fst: Fst, tmp_path: Path) -> None:
    path = kaldifst_file(tmp_path / "a.fst", kind)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        try:
            read = read_fst(path)
        except GraphSourceError:
            continue
        assert kind == "vector"  # whose header need not tell how many states there are
        assert read.num_states < fst.num_states


@pytest.mark.parametrize("kind", ["const", "vector"])
def test_what_follows_the_last_arc_is_refused(kind: str, tmp_path: Path) -> None:
    path = kaldifst_file(tmp_path / "a.fst", kind)
    path.write_bytes(path.read_bytes() + b"junk")
    with pytest.raises(GraphSourceError, match="damaged"):
        read_fst(path)


@many
@given(data=st.data(), kind=st.sampled_from(["const", "vector"]))
def test_damage_anywhere_is_read_or_refused(data: st.DataObject, kind: str, tmp_path: Path) -> None:
    path = kaldifst_file(tmp_path / "a.fst", kind)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        read = read_fst(path)
    except GraphSourceError:
        return
    assert read.targets.max(initial=0) < read.num_states
    assert 0 <= read.start < read.num_states
