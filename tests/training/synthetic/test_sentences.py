"""Sentences of text files."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from earshot.training.synthetic.errors import SynthesisError
from earshot.training.synthetic.sentences import read_sentences, split_sentences

TEXT = 'He saw Mr. J. Smith. "Really?" she said!\n\nNo.\nThey were 3 men, 1/2 of them old.\n'


def write(folder: Path, text: str = TEXT) -> Path:
    path = folder / "text.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_line_is_split_where_sentences_end() -> None:
    assert split_sentences("He saw Mr. J. Smith. Then (at 5 p.m. or so) he left! Did he?") == [
        "He saw Mr. J. Smith.",
        "Then (at 5 p.m. or so) he left!",
        "Did he?",
    ]


def test_sentences_are_words_and_what_cannot_be_said_is_counted(tmp_path: Path) -> None:
    sentences = read_sentences([write(tmp_path)], seed=1)
    assert sorted(saying.spoken for saying in sentences.sayings) == [
        "He saw mister J. Smith.",
        "Really? she said!",
    ]
    assert sentences.unsayable == 1


def test_sentences_come_once_and_within_lengths(tmp_path: Path) -> None:
    long = " ".join(["word"] * 31)
    path = write(tmp_path, f"One thing.\none thing\n{long}\nAlone\n")
    assert [saying.text for saying in read_sentences([path], seed=1).sayings] == ["one thing"]


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open)])
def test_compressed_text_is_read(tmp_path: Path, suffix: str, opener: object) -> None:
    path = tmp_path / f"text{suffix}"
    with opener(path, "wt", encoding="utf-8") as file:
        file.write(TEXT)
    assert read_sentences([path], 1) == read_sentences([write(tmp_path)], 1)


def test_a_large_text_is_sampled_by_the_seed(tmp_path: Path) -> None:
    words = [f"sentence {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(300)]
    path = write(tmp_path, "\n".join(words))
    few = read_sentences([path], seed=1, most=50)
    assert len(few.sayings) == 50
    assert few.digest == read_sentences([path], seed=1, most=50).digest
    assert few.digest != read_sentences([path], seed=2, most=50).digest
    assert {few.at(index).text for index in range(50)} == {few.at(i).text for i in range(50, 100)}
    last = {saying.text for saying in few.sayings} & set(words[250:])
    assert last  # not only the first that came


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.txt", None, "cannot read the text"),
        ("broken.txt", b"\xff\xfe\xff", "cannot read the text"),
        ("broken.xz", b"no archive", "cannot read the text"),
        ("cut.gz", gzip.compress(b"two words\n" * 99, mtime=0)[:30], "cannot read the text"),
        ("digits.txt", b"1/2 of 3/4\n", "no sentence that can be said"),
    ],
)
def test_text_that_gives_nothing_is_an_error(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SynthesisError, match=said):
        read_sentences([path], seed=1)
