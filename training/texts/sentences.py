"""Sentences of today as text for language models: `python -m earshot.training sentences`.

Books whose copyright has ended know neither "turn the porch light off" nor "what is my balance".
Collections of such sentences are published, each in a form of its own.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earshot.language.text.transcript_text import normalise_text
from earshot.training.corpus.manifest import read_speech
from earshot.training.errors import CorpusError
from earshot.training.texts.language_texts import HELD_OUT_EVERY

_END = re.compile(r"[.!?;]+\s")
_OTHER_SHAPE = (ValueError, KeyError, IndexError, TypeError, AttributeError)


def _first_column(text: str) -> Iterator[str]:
    return (line.split("\t", 1)[0] for line in text.splitlines())


def _below_heading(text: str) -> Iterator[str]:
    rows = csv.reader(io.StringIO(text))
    next(rows, None)
    return (row[0] for row in rows if row)


def _intents(text: str) -> Iterator[str]:
    return (sentence for part in json.loads(text).values() for sentence, _ in part)


def _fragments(text: str) -> Iterator[str]:
    for queries in json.loads(text).values():
        for query in queries:
            yield "".join(fragment["text"] for fragment in query["data"])


def _users(text: str) -> Iterator[str]:
    turns: Iterator[Any] = (turn for dialogue in json.loads(text) for turn in dialogue["turns"])
    return (turn["utterance"] for turn in turns if turn["speaker"] == "USER")


FORMATS: dict[str, Callable[[str], Iterator[str]]] = {
    "lines": lambda text: iter(text.splitlines()),
    "tsv": _first_column,
    "csv": _below_heading,
    "intents": _intents,
    "fragments": _fragments,
    "dialogues": _users,
}
"""Where a file has its sentences: on lines, in the first column (of a csv without its heading), or
in JSON: ``{part: [[sentence, intent]]}``, ``{intent: [{data: [{text}]}]}``, which are parts of a
sentence, or ``[{turns: [{speaker, utterance}]}]``, of which those of the speaker USER are taken."""


@dataclass(frozen=True)
class Collection:
    """Files of one format; `pattern` as in a shell."""

    format: str
    pattern: str

    @classmethod
    def parse(cls, text: str) -> Collection:
        """Parse ``FORMAT=PATTERN``. Raises CorpusError."""
        name, _, pattern = text.partition("=")
        if name not in FORMATS or not pattern:
            known = ", ".join(FORMATS)
            raise CorpusError(f"{text!r} is not FORMAT=PATTERN with a format of {known}")
        return cls(name, pattern)

    def sentences(self) -> Iterator[str]:
        """Sentences of all files, in the order of their names. Raises CorpusError."""
        pattern = Path(self.pattern)
        below = pattern.anchor
        paths = sorted(Path(below).glob(str(pattern.relative_to(below))))
        if not paths:
            raise CorpusError(f"no file is named like {self.pattern}")
        for path in paths:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
                yield from map(_require_text, FORMATS[self.format](text))
            except OSError as error:
                raise CorpusError(f"cannot read {path}: {error}") from error
            except (*_OTHER_SHAPE, csv.Error) as error:
                raise CorpusError(f"{path} does not have the format {self.format}") from error


def _require_text(sentence: Any) -> str:
    if not isinstance(sentence, str):
        raise TypeError(f"{sentence!r} is no sentence")
    return sentence


def write_sentences(
    collections: Sequence[Collection], output: Path, name: str, unlike: Path | None = None
) -> tuple[int, int]:
    """Writes ``NAME.txt`` and, of every eighth sentence, ``NAME.held_out.txt`` into a folder.

    No sentence comes twice, and none that says one of the transcripts of the manifest `unlike`.
    Returns how many were written, and how many were left out for what they say. Raises CorpusError.
    """
    spoken = (" ".join(each.split()) for files in collections for each in files.sentences())
    found = [each for each in dict.fromkeys(spoken) if each]
    forbidden = {each.text for each in read_speech(unlike) if each.text} if unlike else set()
    kept = [each for each in found if not says_any(each, forbidden)]
    if not kept:
        raise CorpusError("there is no sentence left")
    learnt = [each for i, each in enumerate(kept) if i % HELD_OUT_EVERY]
    _write(output / f"{name}.txt", learnt)
    _write(output / f"{name}.held_out.txt", kept[::HELD_OUT_EVERY])
    return len(kept), len(found) - len(kept)


def _write(path: Path, lines: Sequence[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise CorpusError(f"cannot write to {path}: {error}") from error


def says_any(line: str, forbidden: set[str]) -> bool:
    """Whether a line, or a sentence of it, is one of these texts."""
    parts = (line, *_END.split(line))
    return not forbidden.isdisjoint(normalise_text(part) for part in parts)
