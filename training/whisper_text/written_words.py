"""Words that Whisper's decoder can write, and those that it cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from earshot.models.whisper_decoder.pen import is_spoken
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.errors import RecipeError

UNSPACED = ("zh", "yue", "ja", "th", "lo", "km", "my", "bo")
"""Languages that are written without spaces, as Whisper names them."""
MOST_UNWRITTEN = 0.1
"""The share of the words that may lack tokens: some are of another language."""


def require_spaces(language: str) -> None:
    """Raises RecipeError for a language whose words have no spaces between them."""
    if language in UNSPACED:
        raise RecipeError(
            "network.decoder: whisper's writes words with spaces between them, of which "
            f"{language!r} has none"
        )


def require_written(tokenizer: WhisperTokenizer, texts: Iterable[str]) -> None:
    """Raises RecipeError for transcripts of which the decoder can write too few words.

    Letters that are no token alone are made of bytes, and the texts of finals are made of letters.
    """
    words = Counter(word for text in texts for word in text.split())
    unwritten = {word: count for word, count in words.items() if not _is_written(tokenizer, word)}
    count, total = sum(unwritten.values()), words.total()
    if count > MOST_UNWRITTEN * total:
        most = max(unwritten, key=lambda word: unwritten[word])
        raise RecipeError(
            f"network.decoder: whisper's cannot write {count} of {total} words of the transcripts, "
            f"such as {most!r}, in tokens that are whole letters: leave it out"
        )


def _is_written(tokenizer: WhisperTokenizer, word: str) -> bool:
    return all(is_spoken(tokenizer.piece(token)) for token in tokenizer.encode(" " + word))
