"""L: how words are spelled in tokens, as a transducer, and lexicon files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.graphs.fst import Fst
from earshot.language.text.text_lines import read_fields

Spelling = tuple[int, ...]
Lexicon = Mapping[str, Sequence[Spelling]]
"""The spellings of each word, as token ids."""

MAX_SPELLING = 256
"""Tokens in one spelling."""

BEHIND_LAST = 1
"""The state behind a word that no separator follows."""


@dataclass(frozen=True, eq=False)
class LexiconFst:
    """L. Labels of disambiguation symbols follow the tokens': ``first_symbol`` is back-off's."""

    fst: Fst
    first_symbol: int


def read_lexicon(path: Path, unit_ids: Mapping[str, int]) -> dict[str, list[Spelling]]:
    """A file with a word and its units on each line; a word may stand on several lines.

    Raises GraphSourceError, naming the line, for a unit that the model does not have.
    """
    lexicon: dict[str, list[Spelling]] = {}
    for number, fields in read_fields(path):
        spelling = _spelling(fields, unit_ids, path.name, number)
        known = lexicon.setdefault(fields[0], [])
        if spelling not in known:
            known.append(spelling)
    if not lexicon:
        raise GraphSourceError("the lexicon is empty", path.name)
    return lexicon


def _spelling(fields: list[str], unit_ids: Mapping[str, int], name: str, number: int) -> Spelling:
    if not 2 <= len(fields) <= MAX_SPELLING + 1:
        raise GraphSourceError(f"{fields[0]!r} has {len(fields) - 1} units", name, number)
    missing = [unit for unit in fields[1:] if unit not in unit_ids]
    if missing:
        raise GraphSourceError(
            f"the model has no unit {missing[0]!r}, in the spelling of {fields[0]!r}", name, number
        )
    return tuple(unit_ids[unit] for unit in fields[1:])


def lexicon_fst(
    lexicon: Lexicon,
    word_ids: Mapping[str, int],
    vocab_size: int,
    back_off: int,
    separator: int | None = None,
) -> LexiconFst:
    """L with labels (token + 1) in, words out, for the words of ``word_ids``.

    State 0 is where a word begins and ends. A spelling that is the beginning of another one, or
    that of several words, ends in a disambiguation symbol, so that L composed with a grammar can be
    made deterministic (Mohri, Pereira and Riley 2002, section 3.1). Such a symbol, ``back_off``,
    also stands for the grammar's own epsilons and loops wherever a word may begin or a text end.

    With a ``separator``, the token that a model of characters writes between words, each word but
    the last of a text ends with it.
    """
    ends = _ends(lexicon, word_ids, separator)
    symbols = _disambiguation([spelling for _, spelling, _ in ends])
    first_symbol = vocab_size + 1
    loops = [0] if separator is None else [0, BEHIND_LAST]
    rows = [(loop, first_symbol, back_off, loop) for loop in loops]
    states = len(loops)
    for (word, spelling, end), symbol in zip(ends, symbols, strict=True):
        labels = [token + 1 for token in spelling] + ([first_symbol + symbol] if symbol else [])
        path = [0, *range(states, states + len(labels) - 1), end]
        outputs = [word] + [0] * (len(labels) - 1)
        rows.extend(zip(path, labels, outputs, path[1:], strict=False))
        states += len(labels) - 1
    fst = _unweighted(rows, states, loops)
    return LexiconFst(fst, first_symbol)


def _ends(
    lexicon: Lexicon, word_ids: Mapping[str, int], separator: int | None
) -> list[tuple[int, Spelling, int]]:
    """Each word, a spelling of it, and the state behind that."""
    entries = [
        (word, spelling)
        for text, word in word_ids.items()
        for spelling in dict.fromkeys(lexicon[text])
    ]
    if separator is None:
        return [(word, spelling, 0) for word, spelling in entries]
    parted = [(word, (*spelling, separator), 0) for word, spelling in entries]
    return parted + [(word, spelling, BEHIND_LAST) for word, spelling in entries]


def _unweighted(
    rows: Sequence[tuple[int, int, int, int]], states: int, final: Sequence[int]
) -> Fst:
    """Build an FST of arcs (source, input, output, target) that cost nothing."""
    sources, inputs, outputs, targets = np.array(rows, np.int64).T
    finals = np.full(states, np.inf)
    finals[list(final)] = 0.0
    return Fst.from_columns(0, finals, sources, inputs, outputs, np.zeros(len(rows)), targets)


def _disambiguation(spellings: Sequence[Spelling]) -> list[int]:
    """The number of the symbol that ends each spelling, 0 for those that need none."""
    count = Counter(spellings)
    begun = {begin for spelling in count for begin in accumulate((t,) for t in spelling[:-1])}
    used: Counter[Spelling] = Counter()
    symbols: list[int] = []
    for spelling in spellings:
        if count[spelling] > 1 or spelling in begun:
            used[spelling] += 1
        symbols.append(used[spelling])
    return symbols
