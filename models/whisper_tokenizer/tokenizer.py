"""Between text and the tokens of a Whisper's decoder (Radford et al. 2022, section 2.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.word_spans import WordSpan
from earshot.models.whisper_tokenizer.byte_symbols import SYMBOLS, to_bytes
from earshot.models.whisper_tokenizer.files import TokenTables, read_tables, write_tables

ENGLISH_ONLY_TOKENS = 50_256
"""GPT-2's vocabulary, which only the English Whispers have; the multilingual one has one more."""
TRANSCRIBE = "<|transcribe|>"
"""Nobody asks an English Whisper for it, and one that was cut down to what is asked lacks it."""
LANGUAGE = re.compile(r"<\|([a-z]{2,3})\|>")
# Whatever speech is not: notes about speakers and sounds stand in brackets or between notes.
SYMBOLS_OF_NO_SPEECH = (
    *"\"#()*+/:;<=>@[\\]^_`{|}~「」『』",
    "<<", ">>", "<<<", ">>>", "--", "---", "-(", "-[", "('", '("', "((", "))", "(((", ")))", "[[",
    "]]", "{{", "}}", "♪♪", "♪♪♪",
)  # fmt: skip
MUSICAL_SYMBOLS = "♩♪♫♬♭♮♯"
"""Suppressed by their first token, where they are several: it stands for U+2640 to U+267F alone."""


class WhisperTokenizer:
    """Byte-level BPE with Whisper's special tokens, which are found by their text.

    Timestamps are tokens too: they follow all others, and no file needs to list them. Raises
    TokenizerError for tables without a byte, or without a token that every transcript needs.
    """

    def __init__(self, tables: TokenTables) -> None:
        self.tables = tables
        self._special = frozenset(tables.special.values())
        if missing := [symbol for symbol in SYMBOLS.values() if symbol not in tables.vocabulary]:
            raise TokenizerError(f"the vocabulary lacks {len(missing)} of the 256 bytes")
        self._pieces = {
            token: to_bytes(text)
            for text, token in tables.vocabulary.items()
            if token not in self._special
        }
        self._bpe = Tokenizer(BPE(dict(tables.vocabulary), tables.merges))
        self._bpe.pre_tokenizer = ByteLevel(add_prefix_space=False)
        self.end_of_text = self._named("<|endoftext|>")
        self.start_of_transcript = self._named("<|startoftranscript|>")
        self.no_timestamps = self._named("<|notimestamps|>")
        self.first_timestamp = tables.special.get("<|0.00|>", self.no_timestamps + 1)
        self.languages = _languages(tables)

    @property
    def size(self) -> int:
        """Number of tokens that the files list, special ones among them."""
        return len(self._special | self._pieces.keys())

    @property
    def english_only(self) -> bool:
        """Whether it is an English Whisper's, which is asked for no language."""
        return self.end_of_text == ENGLISH_ONLY_TOKENS or TRANSCRIBE not in self.tables.special

    def prompt(self, language: str = "en") -> list[int]:
        """Tokens after which a decoder transcribes, without timestamps.

        language: of the speech, as in `languages`; an English Whisper takes no other. Raises
        TokenizerError for one that is not there.
        """
        if language not in (("en",) if self.english_only else self.languages):
            raise TokenizerError(f"the Whisper has no language {language!r}")
        start, end = self.start_of_transcript, self.no_timestamps
        if self.english_only:
            return [start, end]
        return [start, self.languages[language], self.tables.special[TRANSCRIBE], end]

    def encode(self, text: str) -> list[int]:
        """Tokens of `text`, which is never taken for a special token, whatever it looks like."""
        return list(self._bpe.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of tokens; special ones and timestamps leave nothing.

        Bytes that are no UTF-8, as half of a letter is, become U+FFFD.
        """
        return b"".join(map(self.piece, tokens)).decode("utf-8", errors="replace")

    def piece(self, token: int) -> bytes:
        """The bytes that a token writes, maybe half a letter; special ones and timestamps none."""
        return self._pieces.get(token, b"")

    def begins_word(self, token: int) -> bool:
        """Whether a token writes a space first, as those do that begin a word."""
        return self.piece(token).startswith(b" ")

    def word_spans(self, tokens: Sequence[int]) -> list[WordSpan]:
        """Words as (text, index of the first token, index after the last one).

        A word is what spaces separate, with the marks that stand at it; special tokens and
        timestamps belong to none.
        """
        spans: list[list[int]] = []
        for index, token in enumerate(tokens):
            if not self.piece(token):
                continue
            if self.begins_word(token) or not spans:
                spans.append([index, index + 1])
            spans[-1][1] = index + 1
        words = ((self.decode(tokens[first:stop]).strip(), first, stop) for first, stop in spans)
        return [word for word in words if word[0]]

    @cached_property
    def non_speech(self) -> frozenset[int]:
        """Tokens that write no speech but notes on it, such as "(laughs)", "[MUSIC]" and "♪♪".

        Marks within sentences are none of them, nor hyphens and apostrophes within words.
        """
        found = {self.encode(" -")[0], self.encode(" '")[0]}
        for symbol in (*SYMBOLS_OF_NO_SPEECH, *MUSICAL_SYMBOLS):
            for tokens in (self.encode(symbol), self.encode(f" {symbol}")):
                if len(tokens) == 1 or symbol in MUSICAL_SYMBOLS:
                    found.add(tokens[0])
        return frozenset(found)

    @property
    def suppressed(self) -> frozenset[int]:
        """Tokens that no transcript holds: those of `non_speech`, and special ones but its end."""
        return self.non_speech | (self._special - {self.end_of_text, self.first_timestamp})

    def save(self, directory: Path) -> None:
        """Writes a tokenizer.json that `read_whisper_tokenizer` reads."""
        write_tables(directory, self.tables)

    def _named(self, text: str) -> int:
        """The special token that is written so."""
        if (token := self.tables.special.get(text)) is not None:
            return token
        raise TokenizerError(f"there is no token {text}: it is no Whisper's tokenizer")


def _languages(tables: TokenTables) -> dict[str, int]:
    found = ((LANGUAGE.fullmatch(text), token) for text, token in tables.special.items())
    return {match[1]: token for match, token in found if match}


def read_whisper_tokenizer(folder: Path) -> WhisperTokenizer:
    """The tokenizer in a folder, see `read_tables`. Raises TokenizerError."""
    return WhisperTokenizer(read_tables(folder))
