"""Which tokens of a Whisper are worth their room."""

import lzma
from pathlib import Path

import pytest

from earshot.models.whisper_tokenizer.tokenizer import read_whisper_tokenizer
from earshot.training.errors import CorpusError
from earshot.training.whisper_text.used_tokens import used_tokens

TOKENIZER = read_whisper_tokenizer(
    Path(__file__).resolve().parents[2] / "golden" / "whisper" / "hugging_face"
)


def token(text: str) -> int:
    (found,) = TOKENIZER.encode(text)
    return found


def test_those_that_texts_use_come_first(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("cat, “cat” (cat)\n" * 50, encoding="utf-8")
    assert used_tokens(TOKENIZER, [text])[0] == token(" cat")


def test_tokens_of_no_speech_are_none(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("12 (cats)")
    order = used_tokens(TOKENIZER, [text])
    assert not {*TOKENIZER.encode("1("), TOKENIZER.end_of_text} & set(order)
    assert len(set(order)) == len(order)


def test_without_uses_they_are_in_the_order_of_the_web() -> None:
    order = used_tokens(TOKENIZER, [])
    assert order == sorted(order)


def test_a_text_may_be_packed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "text.txt", tmp_path / "text.txt.xz"
    plain.write_text("the cat sat\n" * 5)
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert used_tokens(TOKENIZER, [plain]) == used_tokens(TOKENIZER, [packed])


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\xfd7zXZ\x00", None])
def test_one_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "text.txt.xz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"text\.txt\.xz"):
        used_tokens(TOKENIZER, [path])
