"""Phrases that earn less than was asked for them, because no weight may make words repeat."""

from collections.abc import Iterable

from earshot.decoder_kernels.boosting.boost import MAX_WEIGHT, TOKEN_LIMIT
from earshot.decoder_kernels.boosting.word_boost import BEAM_SHARE
from earshot.streaming.events import BoostUnit, LimitedBoost
from earshot.streaming.graph_config import GraphSearchConfig

SHOWN_DIGITS = 1
"""Digits behind the point of a weight in nats; a smaller difference is not told."""


def limited_boosts(
    earned: Iterable[tuple[str, float, float]], unit: BoostUnit
) -> tuple[LimitedBoost, ...]:
    """The phrases whose weight counts as less.

    earned: text, weight as asked, and what each ``unit`` of the phrase earns or costs. A text that
    is said in several ways comes several times; the way that earns most counts. Phrases that earn
    nothing are left out: they are not boosted at all.
    """
    most: dict[str, LimitedBoost] = {}
    for text, weight, effective in earned:
        known = most.get(text)
        if known is None or abs(known.effective_weight) < abs(effective):
            most[text] = LimitedBoost(text, weight, round(float(effective), SHOWN_DIGITS), unit)
    return tuple(each for each in most.values() if _is_less(each))


def most_earned(graph_search: GraphSearchConfig | None) -> float:
    """Nats beyond which no weight changes anything, where a stream asks for no other search.

    A word in the graph earns them, or without a graph a token. See `word_boost`, `TOKEN_LIMIT`.
    """
    if graph_search is None or graph_search.beam is None:
        return TOKEN_LIMIT
    return min(BEAM_SHARE * graph_search.beam, MAX_WEIGHT)


def _is_less(boost: LimitedBoost) -> bool:
    return 0.0 < abs(boost.effective_weight) < abs(round(boost.weight, SHOWN_DIGITS))
