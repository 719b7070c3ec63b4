"""Text files, plain and compressed."""

import gzip
import lzma
from pathlib import Path

import pytest

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.text.text_files import LINES_PER_REPORT, read_sentences

TEXT = "Mr. Hall went.  Where?\n\nHome\n"
CLEAN = [["mister", "hall", "went"], ["where"], ["home"]]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_plain_gzip_and_xz_are_told_apart(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "text"
    path.write_bytes(pack(TEXT.encode()))
    assert list(read_sentences(path)) == CLEAN


def test_as_it_is_a_line_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(TEXT)
    assert list(read_sentences(path, as_is=True)) == [["Mr.", "Hall", "went.", "Where?"], ["Home"]]


def test_progress_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("a\n" * 4 * LINES_PER_REPORT)
    heard: list[float] = []
    assert len(list(read_sentences(path, progress=heard.append))) == 4 * LINES_PER_REPORT
    assert heard == sorted(heard)
    assert heard[-1] == 1.0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"good\nb\xff\n", "line 2: this is not UTF-8"),
        (gzip.compress(b"text" * 1000, mtime=0)[:-20], "end"),
        (lzma.compress(b"text" * 1000)[:-20], "end"),
        (b"\x1f\x8bnot gzip", "Unknown compression"),
    ],
)
def test_a_damaged_file_is_an_error(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(content)
    with pytest.raises(LanguageModelError, match=complaint):
        list(read_sentences(path))


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LanguageModelError, match="gone: No such file"):
        list(read_sentences(tmp_path / "gone"))
