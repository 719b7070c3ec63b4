"""Merges that a file has lost, found again by the order in which its tokens were learnt.

A byte-level BPE numbers its tokens in the order of their merges. Conversions of the multilingual
Whispers go about without the first merge, "Ġ t": no word that begins with a "t" falls into the
tokens that their decoders were trained on.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

MAX_SYMBOLS = 256
"""Longer tokens stay as they are: no vocabulary of speech has any."""

Pair = tuple[str, str]


def with_lost_merges(vocabulary: Mapping[str, int], merges: list[Pair]) -> list[Pair]:
    """Merges for every token that two of lower numbers make; as they are where no token lacks one.

    Those of a vocabulary that is numbered in another order are left alone.
    """
    ranks = {pair: vocabulary["".join(pair)] for pair in merges}
    numbers = [vocabulary["".join(pair)] for pair in merges]
    made = set(numbers)
    lost = [(token, text) for text, token in vocabulary.items() if token not in made]
    if numbers != sorted(numbers):
        return merges
    for token, text in sorted(lost):
        parts = _merged(text, token, ranks) if 1 < len(text) <= MAX_SYMBOLS else []
        if len(parts) == 2:
            ranks[parts[0], parts[1]] = token
    return sorted(ranks, key=lambda pair: ranks[pair])


def _merged(text: str, token: int, ranks: Mapping[Pair, int]) -> list[str]:
    """The parts of `text` after all merges that were learnt before `token`."""
    parts = list(text)
    while len(parts) > 1:
        found = [(ranks.get(pair, token), place) for place, pair in enumerate(_pairs(parts))]
        rank, place = min(found)
        if rank >= token:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts


def _pairs(parts: list[str]) -> list[Pair]:
    return list(itertools.pairwise(parts))
