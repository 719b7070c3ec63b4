"""Transcripts that Whisper's decoder can write, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer, read_whisper_tokenizer
from earshot.training.errors import RecipeError
from earshot.training.whisper_text.written_words import require_written


@pytest.fixture(scope="module")
def tokenizer(repository_dir: Path) -> WhisperTokenizer:
    """That of the English Whispers, which knows Latin letters best."""
    return read_whisper_tokenizer(repository_dir / "models" / "bundled")


@pytest.mark.parametrize("text", ["it's a red house", "die tür ist größer", "o homem está aqui"])
def test_words_of_letters_that_are_tokens_are_written(
    tokenizer: WhisperTokenizer, text: str
) -> None:
    require_written(tokenizer, [text])


def test_words_of_letters_that_are_halves_are_refused(tokenizer: WhisperTokenizer) -> None:
    with pytest.raises(RecipeError, match=r"cannot write 3 of 3 words .* such as 'हिन्दी'"):
        require_written(tokenizer, ["हिन्दी बोलो हिन्दी"])


def test_a_foreign_word_among_many_is_no_matter(tokenizer: WhisperTokenizer) -> None:
    require_written(tokenizer, ["हिन्दी", *["hello"] * 9])
