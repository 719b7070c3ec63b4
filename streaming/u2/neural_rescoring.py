"""The neural language model's word on what both passes have found.

Of each hypothesis that is within reach of the best

    score = second_pass + neural_lm_weight * ln P(words)

The graph's n-grams see two words back; this one sees the whole sentence (log-linear interpolation,
as neural models have rescored n-best lists since Mikolov 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from earshot.models.neural_lm.sentence_scorer import SentenceScore, SentenceScorer
from earshot.streaming.engine.pulse import Beat, unheard
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.results.hypothesis import Hypothesis
from earshot.streaming.results.results import Scored
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.search.search_choice import SearchKind, why_none
from earshot.streaming.stream.lane import Ending
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.pass_weights import PassWeights

REACH = 6.0
"""In nats of the second pass. Who is further behind is not made up for, and costs time."""

MOST_ASKED = 20
"""Candidates of one segment, however many are within reach: a tree takes its size squared."""

LEAST_BOOSTED = -8.0
"""What a boosted word counts at least: the model cannot expect what a request brings along."""


class NeuralRescoring:
    """Ranks the candidates of endings anew. Only the engine thread calls it."""

    def __init__(self, scorer: SentenceScorer, weights: PassWeights) -> None:
        self._scorer = scorer
        self._weights = weights

    def __call__(self, endings: Sequence[Ending], beat: Beat = unheard) -> None:
        """Replace `scored` of those that were searched in a graph, where there is a choice."""
        asked = [ending for ending in endings if self._weight(ending) > 0]
        near = [_within_reach(ending.scored) for ending in asked]
        chosen = [(e, n) for e, n in zip(asked, near, strict=True) if n > 1]
        texts = [[_words(each.hypothesis) for each in e.scored[:n]] for e, n in chosen]
        for (ending, _), found in zip(chosen, self._scorer.score(texts), strict=True):
            if found is not None:
                ending.scored = _ranked(ending.scored, found, self._weight(ending))

    def _weight(self, ending: Ending) -> float:
        stream = ending.stream
        if stream.search != "graph" or mode_of(stream.config) != "attention_rescoring":
            return 0.0
        return self._weights.changed_by(stream.config.weights).neural_lm


def require_neural_lm(config: StreamConfig, search: SearchKind, has_neural_lm: bool) -> None:
    """Raises InvalidStreamConfig where a stream weighs what is never asked."""
    if not has_neural_lm:
        raise InvalidStreamConfig("neural_lm_weight: there is no neural language model here")
    if mode_of(config) != "attention_rescoring":
        raise InvalidStreamConfig(f"neural_lm_weight: mode {mode_of(config)} has no second pass")
    if search != "graph":
        why = why_none(config)
        raise InvalidStreamConfig(f"neural_lm_weight: no decoding graph is searched, {why}")


def _within_reach(scored: Sequence[Scored]) -> int:
    """How many of the candidates, best first."""
    return sum(scored[0].score - each.score <= REACH for each in scored[:MOST_ASKED])


def _words(hypothesis: Hypothesis) -> list[str]:
    return [word.text for word in hypothesis.words]


def _ranked(
    scored: Sequence[Scored], found: Sequence[SentenceScore], weight: float
) -> list[Scored]:
    """Best first; those that were not asked about stay behind the others, at the least score."""
    rescored = [
        replace(each, score=each.score + weight * _log_prob(each.hypothesis, sentence))
        for each, sentence in zip(scored, found, strict=False)
    ]
    least = min(each.score for each in rescored)
    rest = [replace(each, score=min(each.score, least)) for each in scored[len(rescored) :]]
    return [*sorted(rescored, key=lambda each: -each.score), *rest]


def _log_prob(hypothesis: Hypothesis, sentence: SentenceScore) -> float:
    words = (
        max(log_prob, LEAST_BOOSTED) if word.boosted else log_prob
        for word, log_prob in zip(hypothesis.words, sentence.words, strict=True)
    )
    return sum(words) + sentence.end
