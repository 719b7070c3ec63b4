"""Tokenizers that lie beside a Whisper's weights, its own and others'."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from earshot.models.checkpoints.whisper.checkpoint import WhisperCheckpoint, read_whisper
from earshot.models.whisper_tokenizer.files import TokenTables, read_tables, write_tables
from earshot.training.errors import RecipeError
from earshot.training.whisper_text.whisper_tokens import tokenizer_beside

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "whisper" / "hugging_face"
ENGLISH = 51_864


def moved(tables: TokenTables) -> TokenTables:
    """All special tokens a number higher; a token more fills the gap."""
    vocabulary = {text: id for text, id in tables.vocabulary.items() if text not in tables.special}
    vocabulary["ĠĠĠĠz"] = len(vocabulary)
    return replace(
        tables,
        vocabulary=vocabulary,
        special={text: token + 1 for text, token in tables.special.items()},
    )


@pytest.fixture(scope="module")
def english(repository_dir: Path) -> TokenTables:
    """The tokens of every English Whisper."""
    return read_tables(repository_dir / "models" / "bundled")


def whisper_of(vocabulary: int, folder: Path) -> WhisperCheckpoint:
    """A Whisper that says it has so many tokens."""
    found = read_whisper(FOLDER)
    return replace(found, dims=replace(found.dims, vocabulary=vocabulary), tokenizer=folder)


def test_an_english_whispers_own_tokenizer_is_taken(english: TokenTables, tmp_path: Path) -> None:
    write_tables(tmp_path, english)
    found = tokenizer_beside(tmp_path / "tiny.en.pt", whisper_of(ENGLISH, tmp_path))
    assert found.first_timestamp + 1501 == ENGLISH


@pytest.mark.parametrize("vocabulary", [ENGLISH + 1, ENGLISH + 2])
def test_a_multilingual_whisper_refuses_the_english_tokenizer(
    english: TokenTables, tmp_path: Path, vocabulary: int
) -> None:
    write_tables(tmp_path, english)
    with pytest.raises(RecipeError, match="another Whisper's: its texts end with 50256"):
        tokenizer_beside(tmp_path / "tiny.pt", whisper_of(vocabulary, tmp_path))


def test_special_tokens_that_moved_are_told(english: TokenTables, tmp_path: Path) -> None:
    write_tables(tmp_path, moved(english))
    with pytest.raises(RecipeError, match="another Whisper's: its texts end with 50257"):
        tokenizer_beside(tmp_path / "tiny.en.pt", whisper_of(ENGLISH, tmp_path))


def test_timestamps_that_begin_elsewhere_are_told(english: TokenTables, tmp_path: Path) -> None:
    write_tables(tmp_path, replace(english, special={**english.special, "<|new|>": 50_363}))
    checkpoint = whisper_of(ENGLISH, tmp_path)
    tokenizer_beside(tmp_path / "tiny.en.pt", checkpoint)  # as if the first timestamp were listed
    special = {text: id for text, id in english.special.items() if text != "<|notimestamps|>"}
    special |= {"<|new|>": 50_362, "<|notimestamps|>": 50_363}
    write_tables(tmp_path, replace(english, special=special))
    with pytest.raises(RecipeError, match=r"its timestamps begin at 50364, .* at 50363"):
        tokenizer_beside(tmp_path / "tiny.en.pt", checkpoint)


def test_tokens_that_the_weights_have_not_are_told(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="it has a token 309, the weights have 309"):
        tokenizer_beside(FOLDER, whisper_of(309, FOLDER))


def test_another_end_than_the_folder_names_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "whisper"
    shutil.copytree(FOLDER, folder)
    write_tables(folder, moved(read_tables(FOLDER)))
    with pytest.raises(RecipeError, match="its texts end with 301, those of the weights with 300"):
        tokenizer_beside(folder, read_whisper(folder))
