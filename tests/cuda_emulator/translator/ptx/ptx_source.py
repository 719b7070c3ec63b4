"""PTX as statements, each with the line where it begins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from translator.errors import MalformedPtx

# These end with their line, all others with a semicolon or a brace.
LINE_DIRECTIVES = ([".version"], [".target"], [".address_size"], [".file"], [".loc"])
LABEL = re.compile(r"\s*([\w$]+)\s*:(?!:)")
FUNCTION_HEADER = re.compile(r"\.(entry|func)\b")


@dataclass(frozen=True)
class Statement:
    """`text` has single spaces and no semicolon; braces and labels (`NAME:`) stand alone."""

    text: str
    line: int

    @property
    def first_word(self) -> str:
        """The directive or opcode, where it is no label or brace."""
        return self.text.split(" ", 1)[0]


def statements(text: str) -> list[Statement]:
    """All statements of a PTX file but its debug sections.

    Raises:
        MalformedPtx: braces that do not match, or a statement without an end.
    """
    return list(_Splitter().split(text))


class _Splitter:
    def __init__(self) -> None:
        self._pending = ""
        self._began = 0
        self._operand_braces = 0  # of vectors and initialisers, which belong to a statement

    def split(self, text: str) -> Iterator[Statement]:
        number = 0
        for number, line in _lines_of_code(text):
            if not self._pending and line.split(maxsplit=1)[:1] in LINE_DIRECTIVES:
                yield Statement(" ".join(line.split()), number)
            else:
                yield from self._split_line(line, number)
        if self._pending:
            raise MalformedPtx(f"a statement does not end: {self._pending}", self._began)

    def _split_line(self, line: str, number: int) -> Iterator[Statement]:
        for piece in re.split(r"([;{}])", line):
            if piece == ";":
                yield from self._end()
            elif piece == "{":
                yield from self._open(number)
            elif piece == "}":
                yield from self._close(number)
            else:
                yield from self._lengthen(piece, number)

    def _lengthen(self, piece: str, number: int) -> Iterator[Statement]:
        if not self._pending and (label := LABEL.match(piece)):
            yield Statement(f"{label[1]}:", number)
            piece = piece[label.end() :]
        words = " ".join(piece.split())
        if words and not self._pending:
            self._began = number
        self._pending = f"{self._pending} {words}".strip()

    def _open(self, number: int) -> Iterator[Statement]:
        if FUNCTION_HEADER.search(self._pending):
            yield from self._end()
        if self._pending:
            self._operand_braces += 1
            self._pending += " {"
        else:
            yield Statement("{", number)

    def _close(self, number: int) -> Iterator[Statement]:
        if self._operand_braces:
            self._operand_braces -= 1
            self._pending += "}"
        elif self._pending:
            raise MalformedPtx(f"a brace ends a statement: {self._pending}", number)
        else:
            yield Statement("}", number)

    def _end(self) -> Iterator[Statement]:
        if self._operand_braces:
            raise MalformedPtx(f"an open brace: {self._pending}", self._began)
        if self._pending:
            yield Statement(self._pending, self._began)
        self._pending = ""


def _lines_of_code(text: str) -> Iterator[tuple[int, str]]:
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    in_section = False
    for number, line in enumerate(text.splitlines(), 1):
        in_section = in_section or line.lstrip().startswith(".section")
        if not in_section:
            yield number, line if '"' in line else line.split("//", 1)[0]
        elif line.strip() == "}":
            in_section = False
