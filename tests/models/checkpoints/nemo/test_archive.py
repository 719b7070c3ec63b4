"""Archives as files: read in place, or unpacked within bounds."""

import gzip
from pathlib import Path

import pytest
from nemo_writer import options, write_archive, write_tar

from earshot.models.checkpoints.nemo import unpacked
from earshot.models.checkpoints.nemo.archive import CONFIG, WEIGHTS, is_nemo, only_nemo, open_nemo
from earshot.models.checkpoints.nemo.unpacked import SMALL
from earshot.models.errors import CheckpointError, NotACheckpoint, UnsafeCheckpoint


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "x.nemo", options("EncDecCTCModel"))


def test_a_member_is_a_file_to_seek_in(tmp_path):
    write_tar(tmp_path / "x.nemo", {"./a": b"before", "./b": b"0123456789", "./c": b"after"})
    with open_nemo(tmp_path / "x.nemo") as archive, archive.open(archive.member("b")) as file:
        assert file.read() == b"0123456789"
        assert file.seek(-3, 2) == 7
        assert file.read(100) == b"789"
        assert file.seek(2) == 2
        assert (file.read(2), file.tell(), file.read(0)) == (b"23", 4, b"")
        with pytest.raises(OSError, match="cannot seek"):
            file.seek(-1)
        file.seek(1000)
        assert file.read() == b""


def test_two_members_are_read_at_the_same_time(tmp_path):
    write_tar(tmp_path / "x.nemo", {"./a": b"abcd", "./b": b"0123"})
    with open_nemo(tmp_path / "x.nemo") as archive:
        first, second = archive.open(archive.member("a")), archive.open(archive.member("b"))
        assert [first.read(2), second.read(2), first.read(2), second.read(2)] == [
            b"ab", b"01", b"cd", b"23",
        ]  # fmt: skip


def test_nothing_is_unpacked_from_a_plain_archive(path, monkeypatch):
    monkeypatch.setattr(unpacked.tempfile, "TemporaryFile", None)
    with open_nemo(path) as archive:
        assert archive.member(WEIGHTS).size > 0


def test_a_compressed_archive_has_the_same_members(tmp_path, path):
    packed = tmp_path / "packed.nemo"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with open_nemo(path) as plain, open_nemo(packed) as archive:
        assert archive.members == plain.members
        weights = archive.member(WEIGHTS)
        assert archive.read(weights, 10**7) == plain.read(weights, 10**7)


def test_a_compressed_archive_leaves_no_file(tmp_path, path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(unpacked.tempfile, "tempdir", str(folder))
    path.write_bytes(gzip.compress(path.read_bytes()))
    with open_nemo(path):
        assert list(folder.iterdir()) == []


def test_a_gzip_of_more_than_any_model_is_refused(path, monkeypatch):
    monkeypatch.setattr(unpacked, "MAX_BYTES", 1000)
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(UnsafeCheckpoint, match="more than 1000 bytes"):
        open_nemo(path).__enter__()


def test_a_gzip_bomb_is_refused(tmp_path):
    bomb = tmp_path / "x.nemo"
    bomb.write_bytes(gzip.compress(bytes(20 * SMALL)))
    with pytest.raises(UnsafeCheckpoint, match="far over its size"):
        open_nemo(bomb).__enter__()


@pytest.mark.parametrize("spoil", [lambda data: data[:-20], lambda data: data[:30] + b"\0" * 200])
def test_a_damaged_gzip_is_refused(path, spoil):
    path.write_bytes(spoil(gzip.compress(path.read_bytes())))
    with pytest.raises(NotACheckpoint, match="gzip"):
        open_nemo(path).__enter__()


def test_a_full_disk_is_named(path, monkeypatch):
    def fail() -> None:
        raise OSError(28, "No space left on device")

    path.write_bytes(gzip.compress(path.read_bytes()))
    monkeypatch.setattr(unpacked.tempfile, "TemporaryFile", fail)
    with pytest.raises(CheckpointError, match="No space left"):
        open_nemo(path).__enter__()


def test_a_missing_or_empty_file_is_refused(tmp_path):
    with pytest.raises(NotACheckpoint, match="cannot read"):
        open_nemo(tmp_path / "x.nemo").__enter__()
    (tmp_path / "x.nemo").write_bytes(b"")
    with pytest.raises(NotACheckpoint, match="is empty"):
        open_nemo(tmp_path / "x.nemo").__enter__()


def test_a_member_must_be_there_once(tmp_path):
    write_tar(tmp_path / "x.nemo", {"./a/model_config.yaml": b"", "./b/model_config.yaml": b""})
    with open_nemo(tmp_path / "x.nemo") as archive:
        with pytest.raises(NotACheckpoint, match=r"more than one model_config\.yaml"):
            archive.member(CONFIG)
        with pytest.raises(NotACheckpoint, match=r"no model_weights\.ckpt"):
            archive.member(WEIGHTS)


def test_an_artifact_is_what_the_configuration_names_or_the_only_one(tmp_path):
    write_tar(tmp_path / "x.nemo", {"./0a_tokenizer.model": b"1", "./0b_vocab.txt": b"2"})
    with open_nemo(tmp_path / "x.nemo") as archive:
        found = archive.artifact("nemo:0a_tokenizer.model", "tokenizer.model")
        assert found == archive.artifact("/training/tokenizer.model", "tokenizer.model")
        with pytest.raises(NotACheckpoint, match=r"lacks '0c_tokenizer\.model'"):
            archive.artifact("nemo:0c_tokenizer.model", "tokenizer.model")


def test_a_large_or_binary_text_is_refused(tmp_path):
    write_tar(tmp_path / "x.nemo", {"./a": b"x" * 11, "./b": b"\xff"})
    with open_nemo(tmp_path / "x.nemo") as archive:
        with pytest.raises(UnsafeCheckpoint, match="too large"):
            archive.text(archive.member("a"), 10)
        with pytest.raises(NotACheckpoint, match="no text"):
            archive.text(archive.member("b"), 10)


def test_an_archive_is_known_by_its_name_or_its_members(tmp_path, path):
    other = tmp_path / "renamed.bin"
    other.write_bytes(path.read_bytes())
    assert is_nemo(path)
    assert is_nemo(other)
    other.write_bytes(gzip.compress(path.read_bytes()))
    assert is_nemo(other)
    write_tar(other, {"./train.yaml": b""})
    assert not is_nemo(other)
    for content in (b"", b"PK", gzip.compress(b"hello"), b"\x1f\x8b", b"\x1f\x8b\x08" + bytes(30)):
        other.write_bytes(content)
        assert not is_nemo(other)
    assert not is_nemo(tmp_path)


def test_a_directory_holds_one_archive_or_none(tmp_path, path):
    assert only_nemo(tmp_path) == path
    (tmp_path / "y.nemo").write_bytes(b"")
    assert only_nemo(tmp_path) is None
