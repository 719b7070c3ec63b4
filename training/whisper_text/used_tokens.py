"""Tokens in the order in which a decoder that has room for a part of them wants them.

GPT-2's were learnt from the web: code, names of users, pieces of addresses. Few are words that
anybody says.
"""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from earshot.language.text.transcript_text import letters_alone
from earshot.models.whisper_decoder.pen import is_spoken
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.errors import CorpusError

UNSEEN = 0.3
"""Uses of a token that the texts have not."""


def used_tokens(tokenizer: WhisperTokenizer, texts: Sequence[Path]) -> list[int]:
    """Tokens of speech, by their uses in `texts` over their number: the web's frequent ones first.

    texts: as people write them, plain or `.xz`. Raises CorpusError for one that cannot be read.
    """
    words: Counter[str] = Counter()
    for path in texts:
        for line in _lines(path):
            words.update(letters_alone(line).split())
    uses: Counter[int] = Counter()
    for word, count in words.items():
        for token in tokenizer.encode(" " + word):
            uses[token] += count
    spoken = [token for token in range(tokenizer.size) if is_spoken(tokenizer.piece(token))]
    return sorted(spoken, key=lambda token: -(uses[token] + UNSEEN) / (token + 1))


def _lines(path: Path) -> Iterator[str]:
    opened = lzma.open if path.suffix == ".xz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            yield from lines
    except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
