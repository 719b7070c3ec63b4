import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from earshot.decoder_kernels.errors import GraphFileError
from earshot.decoder_kernels.graph import graph_file
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.graph_file import read_graph, write_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies

WEIGHT = 0.5


def packed(path: Path, weight: float = WEIGHT) -> Path:
    graph = Graph.from_arcs(
        (Arc(0, 2, 1, weight, 0),), {0: 0.75}, 1,
        topology="normal", vocab_size=3, word_texts=("<eps>", "a"),
    )  # fmt: skip
    write_graph(path, graph)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return packed(tmp_path / "lm.graph.xz")


@pytest.fixture
def copies(tmp_path: Path) -> UnpackedCopies:
    return UnpackedCopies(tmp_path / "cache" / "unpacked")


@pytest.fixture
def unpackings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files that were unpacked."""
    names: list[str] = []
    unpack = graph_file._unpacked

    def counted(name: str, content: object) -> bytes:
        names.append(name)
        return unpack(name, content)  # type: ignore[arg-type]

    monkeypatch.setattr(graph_file, "_unpacked", counted)
    return names


def kept(copies: UnpackedCopies) -> list[Path]:
    return sorted(copies.folder.iterdir()) if copies.folder.is_dir() else []


def test_a_second_reading_unpacks_nothing(
    file: Path, copies: UnpackedCopies, unpackings: list[str]
) -> None:
    for _ in range(2):
        assert read_graph(file, copies).weights.tolist() == [WEIGHT]
    assert unpackings == [file.name]


def test_a_graph_without_copies_is_unpacked_each_time(file: Path, unpackings: list[str]) -> None:
    read_graph(file)
    read_graph(file)
    assert len(unpackings) == 2


def test_a_file_of_another_content_has_a_copy_of_its_own(
    file: Path, copies: UnpackedCopies
) -> None:
    read_graph(file, copies)
    packed(file, 2.5)
    assert read_graph(file, copies).weights.tolist() == [2.5]
    assert len(kept(copies)) == 2


@pytest.mark.parametrize(
    "harm",
    [
        lambda copy: copy.write_bytes(copy.read_bytes()[:-1]),
        lambda copy: copy.write_bytes(b""),
        lambda copy: copy.write_bytes(copy.read_bytes()[:200] + b"!" + copy.read_bytes()[201:]),
    ],
    ids=["cut off", "empty", "damaged"],
)
def test_a_copy_that_is_not_whole_is_made_anew(
    file: Path, copies: UnpackedCopies, harm: Callable[[Path], None], unpackings: list[str]
) -> None:
    read_graph(file, copies)
    [copy] = kept(copies)
    whole = copy.read_bytes()
    harm(copy)
    assert read_graph(file, copies).weights.tolist() == [WEIGHT]
    assert len(unpackings) == 2
    assert copy.read_bytes() == whole


def test_a_damaged_file_is_an_error_and_leaves_no_copy(file: Path, copies: UnpackedCopies) -> None:
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(GraphFileError, match=r"lm\.graph\.xz is damaged"):
        read_graph(file, copies)
    assert kept(copies) == []


def test_where_nothing_can_be_written_a_graph_is_read_all_the_same(
    file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "taken").touch()
    with caplog.at_level("INFO"):
        read = read_graph(file, UnpackedCopies(tmp_path / "taken" / "unpacked"))
    assert read.weights.tolist() == [WEIGHT]
    assert "no unpacked copy is kept" in caplog.text


def test_a_copy_on_a_disk_that_is_only_read_is_used(
    file: Path, copies: UnpackedCopies, unpackings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    read_graph(file, copies)
    monkeypatch.setattr(os, "utime", refuse)
    read_graph(file, copies)
    assert unpackings == [file.name]


def test_a_folder_that_others_may_write_to_is_not_used(
    file: Path, copies: UnpackedCopies, unpackings: list[str]
) -> None:
    copies.folder.mkdir(parents=True)
    copies.folder.chmod(0o777)
    read_graph(file, copies)
    assert kept(copies) == []
    copies.folder.chmod(0o700)
    read_graph(file, copies)
    copies.folder.chmod(0o777)
    read_graph(file, copies)
    assert len(unpackings) == 3


def test_a_copy_that_is_a_link_is_not_followed(
    file: Path, copies: UnpackedCopies, unpackings: list[str]
) -> None:
    read_graph(file, copies)
    [copy] = kept(copies)
    copy.rename(copies.folder.parent / "elsewhere")
    copy.symlink_to(copies.folder.parent / "elsewhere")
    read_graph(file, copies)
    assert len(unpackings) == 2


def test_the_copy_used_longest_ago_makes_room(tmp_path: Path) -> None:
    copies = UnpackedCopies(tmp_path / "cache", most_bytes=250)
    copies.keep("old", bytes(100))
    copies.keep("used", bytes(100))
    for name, age_s in (("old", 50), ("used", 100)):
        os.utime(copies.folder / name, (1e9 - age_s, 1e9 - age_s))
    assert copies.find("used") is not None
    copies.keep("new", bytes(100))
    assert [path.name for path in kept(copies)] == ["new", "used"]


def test_what_is_larger_than_all_copies_may_be_is_not_kept(tmp_path: Path) -> None:
    copies = UnpackedCopies(tmp_path / "cache", most_bytes=99)
    copies.keep("large", bytes(100))
    assert kept(copies) == []


def test_copies_lie_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = UnpackedCopies.of_user({"XDG_CACHE_HOME": str(tmp_path)})
    assert named == UnpackedCopies(tmp_path / "earshot" / "unpacked")
    monkeypatch.setenv("HOME", str(tmp_path))
    for relative in ({}, {"XDG_CACHE_HOME": "relative"}, {"XDG_CACHE_HOME": ""}):
        found = UnpackedCopies.of_user(relative)
        assert found == UnpackedCopies(tmp_path / ".cache" / "earshot" / "unpacked")


def test_a_user_without_a_home_has_no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", staticmethod(none))
    assert UnpackedCopies.of_user({}) is None
