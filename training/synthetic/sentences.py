"""Sentences of text files, as engines are to be told them."""

from __future__ import annotations

import hashlib
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from earshot.language.errors import UnsayableText
from earshot.language.text.spoken_text import TITLES, spoken_text
from earshot.training.files.packed_text import open_text
from earshot.training.synthetic.errors import SynthesisError
from earshot.training.synthetic.sayings.saying import Saying

MOST_SENTENCES = 200_000  # kept in memory, of however many there are
LEAST_WORDS, MOST_WORDS = 2, 30
END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z])")
NO_END = re.compile(rf"(?:\b(?:{'|'.join(TITLES)})|\b[A-Z])\.$")


@dataclass(frozen=True)
class Sentences:
    """Sayings in the order in which they are drawn, and how many others had to stay out."""

    sayings: Sequence[Saying]
    unsayable: int = 0

    @property
    def digest(self) -> str:
        """The same for the same sentences in the same order."""
        joined = "\n".join(saying.spoken for saying in self.sayings)
        return hashlib.sha256(joined.encode()).hexdigest()

    def at(self, index: int) -> Saying:
        """The sentence of recording `index`: all of them once before any comes again."""
        return self.sayings[index % len(self.sayings)]


def split_sentences(line: str) -> list[str]:
    """The sentences of a line; "Mr. Smith" and "J. Smith" end none."""
    sentences: list[str] = []
    for piece in END.split(line.strip()):
        if sentences and NO_END.search(sentences[-1]):
            sentences[-1] += f" {piece}"
        else:
            sentences.append(piece)
    return sentences


def _written(paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        try:
            with open_text(path) as lines:
                for line in lines:
                    for sentence in split_sentences(line):
                        if LEAST_WORDS <= len(sentence.split()) <= MOST_WORDS:
                            yield sentence
        except (OSError, UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
            raise SynthesisError(f"cannot read the text {path}: {error}") from error


def _sample(written: Iterator[str], most: int, rng: random.Random) -> list[str]:
    """At most `most` of them, each as likely (Vitter 1985, algorithm R), in random order."""
    kept: list[str] = []
    for index, sentence in enumerate(written):
        if index < most:
            kept.append(sentence)
        elif (place := rng.randrange(index + 1)) < most:
            kept[place] = sentence
    rng.shuffle(kept)
    return kept


def read_sentences(paths: Sequence[Path], seed: int, most: int = MOST_SENTENCES) -> Sentences:
    """Sentences of 2 to 30 words of plain, .gz or .xz files, each once.

    Raises SynthesisError if a file cannot be read or none of its sentences can be said.
    """
    sayings: dict[str, Saying] = {}
    unsayable = 0
    for sentence in _sample(_written(paths), most, random.Random(f"{seed}/sentences")):
        try:
            saying = Saying(spoken_text(sentence))
            sayings.setdefault(saying.text, saying)
        except UnsayableText:
            unsayable += 1
    if not sayings:
        raise SynthesisError(f"no sentence that can be said in {', '.join(map(str, paths))}")
    return Sentences(list(sayings.values()), unsayable)
