"""No one token earns more than it may, however many phrases it completes.

A phrase pays its weight token by token, as far as that may be pending; the last token pays the
rest. Where several end together, as `b`, `a b` and `c a b` do, it pays for all but the longest at
once.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from earshot.decoder_kernels.boosting.boost import BoostPhrase, PhraseBonuses
from earshot.decoder_kernels.boosting.phrase_trie import PhraseTrie

MAX_ROUNDS = 20
_SLACK = 1e-9


def within_step(phrases: Sequence[BoostPhrase], most: float) -> list[BoostPhrase]:
    """The phrases, with weights lowered until no token earns more than ``most`` nats.

    Nor do phrases under way have more pending. Where a token earns more, all phrases that end there
    are lowered alike; a list that still has such a token after `MAX_ROUNDS` is lowered as a whole,
    to half or less at a time. Negative weights are left alone.
    """
    trie = PhraseTrie(phrase.tokens for phrase in phrases)
    ends = [trie.end(phrase.tokens) for phrase in phrases]
    limited = list(phrases)
    for round_ in count():
        shares = _excess(trie, limited, most)
        if not shares:
            break
        if round_ >= MAX_ROUNDS:
            shares = dict.fromkeys(ends, min(0.5, *shares.values()))
        limited = [
            replace(phrase, weight=phrase.weight * shares.get(end, 1.0))
            if phrase.weight > 0
            else phrase
            for phrase, end in zip(limited, ends, strict=True)
        ]
    return limited


def _excess(trie: PhraseTrie, phrases: Sequence[BoostPhrase], most: float) -> dict[int, float]:
    """By state, which share of what ends there may be left, where it is not all."""
    kept = [replace(phrase, weight=max(0.0, phrase.weight)) for phrase in phrases]
    pending, completed = PhraseBonuses(trie, kept).rows(most)
    before = _least_before(trie, pending)
    shares: dict[int, float] = {}
    for state in range(1, len(trie)):
        paid = before[trie.parents[state]]
        step = pending[state] + completed[state] - paid
        if step <= most + _SLACK:
            continue
        # Where all is pending that may be, less weight makes it no less.
        share = most / step if paid < most else (paid + most - pending[state]) / completed[state]
        for suffix in trie.suffixes(state):
            shares[suffix] = min(shares.get(suffix, 1.0), share)
    return shares


def _least_before(trie: PhraseTrie, pending: Sequence[float]) -> list[float]:
    """The least pending of a state and of all that end like it, from which a token may lead on.

    In `a a` and `a a b` the third of three `a` comes from `a a`, not from the parent `a`.
    """
    least = list(pending)
    for state in range(len(trie) - 1, 0, -1):
        failure = trie.failures[state]
        least[failure] = min(least[failure], least[state])
    return least
