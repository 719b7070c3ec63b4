"""Rare names that the first pass mishears: the list that boosts are judged by.

``python -m benchmarks.boosting.rare_names`` chooses them in the development recordings of read
books, without those that are put aside, and writes ``rare_names.tsv`` beside this file. Today's
model chose, so that later ones are judged by the same list. A word is on it where it has
`LETTERS` or more, the bundled graph lacks it or it costs `RARE_COST` or more there, the books of
``text/books.txt.xz``, which those recordings are not read from, never or hardly ever write it
without a capital, and the first pass without any boost does not write it.
"""

import argparse
import lzma
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.boosting.named_search import NamedSearch, bundled_search
from benchmarks.report import SHARED
from earshot.streaming.words.graph_words import GraphWords
from earshot.training.corpus.put_aside import name_of, read_dev_speech
from earshot.training.corpus.utterance import Utterance

LIST_FILE = Path(__file__).with_name("rare_names.tsv")
BOOKS = "librispeech"
LETTERS = 5
RARE_COST = 10.5
"""Nats as a unigram: one of 36,000 words."""
SMALL = re.compile(r"\b[a-z]+\b")
CAPITAL = re.compile(r"\b[A-Z][a-z]+\b")
SHARE_SMALL = 0.1
"""Of a name's places in books, at most: some names are words as well."""


@dataclass(frozen=True)
class Misheard:
    """A name and a recording that says it, by the recording's name as in ``put_aside.txt``."""

    recording: str
    word: str


def read_list(path: Path = LIST_FILE) -> list[Misheard]:
    """The list, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Misheard(*line.split("\t")) for line in lines if not line.startswith("#")]


def write_list(found: Iterable[Misheard], path: Path = LIST_FILE) -> None:
    """The list, with what it is in its first line."""
    rows = [f"{each.recording}\t{each.word}" for each in found]
    head = "# Recording and name: chosen by benchmarks/boosting/rare_names.py, and not by hand."
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def common_words(text: str) -> frozenset[str]:
    """Words that are written without a capital, and not by exception."""
    small = Counter(SMALL.findall(text))
    capital = Counter(each.lower() for each in CAPITAL.findall(text))
    return frozenset(
        word for word, count in small.items() if count > SHARE_SMALL * (count + capital[word])
    )


def is_rare(word: str, words: GraphWords) -> bool:
    """Whether a graph lacks a word of some length, or has it at a cost."""
    known = words.find(word)
    return len(word) >= LETTERS and (known is None or words.costs[known] >= RARE_COST)


def misheard(
    speech: Sequence[Utterance], search: NamedSearch, common: frozenset[str]
) -> list[Misheard]:
    """Rare names that are said and not written, each once in a recording."""
    found = []
    for each, text in zip(speech, search.texts(speech), strict=True):
        lost = set(each.text.split()) - set(text.split())
        names = (word for word in lost if word.removesuffix("'s") not in common)
        found += [Misheard(name_of(each), word) for word in names if is_rare(word, search.words)]
    return sorted(found, key=lambda each: (each.recording, each.word))


def main() -> None:
    """Choose the words and write the list."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    torch.set_num_threads(1)
    dev = read_dev_speech(SHARED / "speech" / "dev.tsv")
    speech = [each for each in dev if each.corpus == BOOKS]
    with lzma.open(SHARED / "text" / "books.txt.xz", "rt", encoding="utf-8") as books:
        common = common_words(books.read())
    found = misheard(speech, bundled_search(speech), common)
    write_list(found)
    print(f"{len(found)} places of {len({each.word for each in found})} names")


if __name__ == "__main__":
    main()
