"""Texts between the decoder's own and those that the first pass has heard.

Where two texts differ in several places each is right in some of them, and neither as a whole. So
texts are asked about that are one of the two but for one place (word by word: ROVER, Fiscus 1997).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TypeAlias

MOST_PLACES = 8
"""Places in which a hypothesis and the own text differ that are looked at, the first ones."""

MOST_HEARD = 2
"""Hypotheses that are looked at, the best ones."""

Words: TypeAlias = Sequence[str]


def mixed_texts(own: Words, heard: Sequence[Words]) -> list[list[str]]:
    """The own text with one place of a hypothesis, and the best with one of the own text's.

    heard: hypotheses, best first. Neither these nor the own text are among them.
    """
    found = dict.fromkeys(_mixed(own, heard))
    for known in (own, *heard):
        found.pop(tuple(known), None)
    return [list(words) for words in found if words]


def _mixed(own: Words, heard: Sequence[Words]) -> Iterator[tuple[str, ...]]:
    for rank, words in enumerate(heard[:MOST_HEARD]):
        matcher = difflib.SequenceMatcher(None, own, words, autojunk=False)
        places = [place[1:] for place in matcher.get_opcodes() if place[0] != "equal"]
        for begin, stop, first, last in places[:MOST_PLACES]:
            yield (*own[:begin], *words[first:last], *own[stop:])
            if rank == 0:
                yield (*words[:first], *own[begin:stop], *words[last:])
