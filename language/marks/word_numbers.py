"""Words as the tagger's network takes them: by number, with how they begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from earshot.language.marks.tagger_network import TaggerConfig

LETTERS_AT_AN_END = 3


class WordNumbers:
    """A vocabulary, and rows that words outside of it share by a checksum.

    vocabulary: at most as many words as the config has.
    """

    def __init__(self, vocabulary: Sequence[str], config: TaggerConfig) -> None:
        self.vocabulary = tuple(vocabulary)
        self._config = config
        self._known = {word: number for number, word in enumerate(self.vocabulary)}

    def of(self, word: str) -> tuple[int, int, int]:
        """Numbers of a word in lower case, of its beginning and of its end."""
        config = self._config
        number = self._known.get(word)
        if number is None:
            number = config.words + _checksum(word) % config.hashed
        begins = _checksum(word[:LETTERS_AT_AN_END]) % config.ends
        ends = _checksum(word[-LETTERS_AT_AN_END:]) % config.ends
        return number, begins, ends


def _checksum(text: str) -> int:
    return crc32(text.encode())
