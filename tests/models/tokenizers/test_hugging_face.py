"""Units of a tokenizer.json."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.hugging_face import read_hugging_face_tokenizer

PIECES = [
    "<unk>", "▁a", "b", "▁", "<en-US>", "▁ab", "<0xC3>", "<0xA4>", "<", ">", "c▁d", "你", "<EOU>",
]  # fmt: skip
UNITS = {piece: unit for unit, piece in enumerate(PIECES)}


def write(folder: Path, decoder: Any = None) -> Path:
    model = tokenizers.models.Unigram([(piece, -1.0) for piece in PIECES], unk_id=0)
    found = tokenizers.Tokenizer(model)
    found.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    found.decoder = decoder or tokenizers.decoders.Metaspace()
    found.add_special_tokens(["<blank>"])
    found.enable_truncation(1)
    found.enable_padding(length=9)
    found.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def units(*pieces: str) -> list[int]:
    return [UNITS[piece] for piece in pieces]


def test_the_labels_are_units_and_the_blank_behind_them_is_none(tmp_path):
    found = read_hugging_face_tokenizer(write(tmp_path), len(PIECES))
    assert found.vocab_size == len(PIECES)
    assert found.token(5) == "▁ab"


def test_words_begin_where_a_piece_says(tmp_path):
    found = read_hugging_face_tokenizer(write(tmp_path), len(PIECES))
    said = units("<en-US>", "▁a", "b", "▁", "b", "▁ab", "c▁d", "<EOU>", "<unk>")
    assert found.decode(said) == "ab b abc d"
    assert found.word_spans(said) == [("ab", 1, 3), ("b", 4, 5), ("abc d", 5, 7)]


def test_bytes_are_put_together_and_angles_alone_are_text(tmp_path):
    found = read_hugging_face_tokenizer(write(tmp_path), len(PIECES))
    said = units("▁a", "<0xC3>", "<0xA4>", "<", "b", ">", "<0xA4>")
    assert found.decode(said) == "aä<b>\ufffd"
    assert found.word_spans(said) == [("aä<b>\ufffd", 0, 7)]


def test_text_falls_into_pieces_whole_and_without_padding(tmp_path):
    found = read_hugging_face_tokenizer(write(tmp_path), len(PIECES))
    assert found.encode("ab a ab") == units("▁ab", "▁a", "▁ab")
    assert found.encode("AB") == units("▁ab")
    with pytest.raises(UnencodableText):
        found.encode("xyz")
    with pytest.raises(UnencodableText):
        found.encode("a <blank>")


def test_it_is_saved_as_it_was(tmp_path):
    found = read_hugging_face_tokenizer(write(tmp_path), len(PIECES))
    (tmp_path / "saved").mkdir()
    found.save(tmp_path / "saved")
    again = read_hugging_face_tokenizer(tmp_path / "saved" / "tokenizer.json", len(PIECES))
    assert again.units == found.units


def test_a_label_that_is_not_listed_is_refused(tmp_path):
    with pytest.raises(TokenizerError, match="none of 20 units with id 14"):
        read_hugging_face_tokenizer(write(tmp_path), 20)


@pytest.mark.parametrize(
    "decoder",
    [
        tokenizers.decoders.ByteLevel(),
        tokenizers.decoders.WordPiece(),
        tokenizers.decoders.Metaspace(replacement="_"),
        tokenizers.decoders.Sequence([tokenizers.decoders.ByteLevel()]),
    ],
)
def test_pieces_that_are_written_otherwise_are_refused(tmp_path, decoder):
    with pytest.raises(TokenizerError, match="does not write words as pieces"):
        read_hugging_face_tokenizer(write(tmp_path, decoder), len(PIECES))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"model": {"type": "Magic"}}', "[" * 10_000])
def test_a_file_that_is_no_tokenizer_is_refused(tmp_path, text):
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(TokenizerError, match="cannot read the tokenizer"):
        read_hugging_face_tokenizer(tmp_path / "tokenizer.json", 3)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = write(tmp_path)
    with path.open("ab") as file:
        file.truncate(33 * 1024 * 1024)
    with pytest.raises(TokenizerError, match="too large"):
        read_hugging_face_tokenizer(path, 3)


def test_a_tokenizer_without_a_decoder_is_taken(tmp_path):
    path = write(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"decoder": None}))
    assert read_hugging_face_tokenizer(path, len(PIECES)).decode(units("▁a", "b")) == "ab"


@pytest.mark.parametrize("charsmap", ["", "AAAA", "AAAA/////w==", "AQAAAA==", "?", 7])
def test_a_charsmap_that_the_library_dies_of_is_refused(tmp_path, charsmap):
    path = write(tmp_path)
    content = json.loads(path.read_text())
    hostile = {"type": "Precompiled", "precompiled_charsmap": charsmap}
    content["normalizer"] = {"type": "Sequence", "normalizers": [hostile]}
    path.write_text(json.dumps(content))
    with pytest.raises(TokenizerError, match="precompiled_charsmap"):
        read_hugging_face_tokenizer(path, len(PIECES))


def test_a_pipe_is_no_tokenizer(tmp_path):
    os.mkfifo(tmp_path / "tokenizer.json")
    with pytest.raises(TokenizerError, match="no plain file"):
        read_hugging_face_tokenizer(tmp_path / "tokenizer.json", 1)
