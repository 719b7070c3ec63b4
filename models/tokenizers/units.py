"""What a network puts out: the table of its tokens, units.txt, and what CTC adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from earshot.models.errors import TokenizerError
from earshot.models.plain_text import read_plain_text

BLANK = "<blank>"
SPECIAL_SYMBOLS = frozenset(
    {BLANK, "<blk>", "<unk>", "<sos/eos>", "<sos>", "<eos>", "<pad>", "<context>", "</context>"}
)
MAX_TABLE_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class CtcUnits:
    """What a network's CTC heads put out: tokens, one of them the blank, and maybe phones.

    The blank is a token of the table, or comes after all of them. phones: of a head of their own,
    whose blank is unit 0 and comes before them; none, no head.
    """

    blank_id: int
    phones: tuple[str, ...] = ()

    def token_symbols(self, table: Sequence[str]) -> Sequence[str]:
        """The units of the token head by id, of a table's tokens."""
        return table if self.blank_id < len(table) else (*table, BLANK)

    @property
    def phone_symbols(self) -> tuple[str, ...]:
        """The units of the phone head by id."""
        return (BLANK, *self.phones)


@dataclass(frozen=True)
class UnitTable:
    """Symbols by id and ids by symbol."""

    symbols: Sequence[str]
    ids: Mapping[str, int]

    @classmethod
    def read(cls, path: Path) -> UnitTable:
        """Raises TokenizerError if the file is unreadable or not a table of ids 0..n-1."""
        try:
            text = read_plain_text(path, MAX_TABLE_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise TokenizerError(f"cannot read the units table {path}: {error}") from error
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, source: str) -> UnitTable:
        """Table from the text of units.txt; `source` names it in errors.

        Raises TokenizerError naming the line for a bad line or a symbol or id given twice, and
        naming the ids for gaps.
        """
        by_id: dict[int, str] = {}
        ids: dict[str, int] = {}
        # Only "\n" ends a line: str.splitlines would also split at symbols such as U+2028.
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            symbol, unit = _parse_line(line, f"{source}, line {number}")
            if symbol in ids or unit in by_id:
                raise TokenizerError(f"{source}, line {number}: {line.strip()!r} is a duplicate")
            by_id[unit], ids[symbol] = symbol, unit
        if not ids:
            raise TokenizerError(f"{source} is empty")
        gaps = [unit for unit in range(len(by_id)) if unit not in by_id]
        if gaps:
            raise TokenizerError(f"{source} has {len(by_id)} units but none with id {gaps[0]}")
        return cls([by_id[unit] for unit in range(len(by_id))], ids)

    @classmethod
    def of(cls, symbols: Sequence[str], source: str) -> UnitTable:
        """Table of symbols by id; `source` names it in errors.

        Raises TokenizerError for none at all, an empty one or one given twice.
        """
        ids = {symbol: unit for unit, symbol in enumerate(symbols)}
        if not ids or "" in ids:
            raise TokenizerError(f"{source} has no units, or an empty one")
        if len(ids) < len(symbols):
            twice = next(symbol for unit, symbol in enumerate(symbols) if ids[symbol] != unit)
            raise TokenizerError(f"{source}: {twice!r} is a duplicate")
        return cls(symbols, ids)

    def to_text(self) -> str:
        """The table as units.txt."""
        return "".join(f"{symbol} {unit}\n" for unit, symbol in enumerate(self.symbols))

    def __len__(self) -> int:
        return len(self.symbols)


def _parse_line(line: str, place: str) -> tuple[str, int]:
    fields = line.split()
    if len(fields) != 2 or not (fields[1].isascii() and fields[1].isdigit()):
        raise TokenizerError(f"{place}: {line.strip()!r} is not '<symbol> <id>'")
    return fields[0], int(fields[1])
