"""The neural language model: its word on what both passes have found.

Of each hypothesis that is within reach of the best

    score = second_pass + neural_lm_weight * ln P(words)

The graph's n-grams see two words back; this one sees the whole sentence (log-linear interpolation,
as neural models have rescored n-best lists since Mikolov 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.models.config import DecodingConfig
from earshot.streaming.engine.pulse import Beat, unheard
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.parts.option import Option
from earshot.streaming.parts.part import Part, WeightOf
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.search.search_choice import why_none
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.weights import MAX_WEIGHT

if TYPE_CHECKING:
    from earshot.models.neural_lm.sentence_scorer import SentenceScore, SentenceScorer
    from earshot.streaming.parts.model_parts import ModelParts
    from earshot.streaming.results.hypothesis import Hypothesis
    from earshot.streaming.results.results import Scored
    from earshot.streaming.stream.lane import Ending

REACH = 6.0
"""In nats of the second pass. Who is further behind is not made up for, and costs time."""

MOST_ASKED = 20
"""Candidates of one segment, however many are within reach: a tree takes its size squared."""

LEAST_BOOSTED = -8.0
"""What a boosted word counts at least: the model cannot expect what a request brings along."""


class NeuralRescoring:
    """Ranks the candidates of endings anew. Only the engine thread calls it."""

    def __init__(self, scorer: SentenceScorer, weight_of: WeightOf) -> None:
        self._scorer = scorer
        self._weight_of = weight_of

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
        return self._weight_of(stream.config)


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


@dataclass(frozen=True)
class NeuralLmDescription:
    """parameters: of its network. vocab_size: of its own tokenizer."""

    parameters: int
    vocab_size: int


def _load(path: Path, device: str) -> SentenceScorer:
    """Raises CheckpointError."""
    from earshot.models.neural_lm.lm_file import load_neural_lm

    return load_neural_lm(path, device)


def _fit(scorer: SentenceScorer, parts: ModelParts) -> SentenceScorer:
    """It has a tokenizer of its own and fits any model, in a precision by its own size."""
    from earshot.models.native.precision_choice import chosen_precision

    return scorer.with_precision(chosen_precision(parts.precision, scorer.network))


def _describe(scorer: SentenceScorer) -> NeuralLmDescription:
    network = scorer.network
    weights = sum(parameter.numel() for parameter in network.parameters())
    return NeuralLmDescription(weights, network.config.vocab_size)


def _check(name: str, config: StreamConfig, search: str) -> None:
    """Raises InvalidStreamConfig where a stream weighs what is never asked."""
    if mode_of(config) != "attention_rescoring":
        raise InvalidStreamConfig(f"{name}: mode {mode_of(config)} has no second pass")
    if search != "graph":
        raise InvalidStreamConfig(f"{name}: no decoding graph is searched, {why_none(config)}")


def _recommended(model: DecodingConfig) -> float:
    return model.neural_lm_weight


NEURAL_LM: Part[SentenceScorer] = Part(
    name="neural_lm",
    title="neural language model",
    file="neural_lm.safetensors",
    help="neural language model, or none; if absent, that of the model's own graph",
    needs="graph",
    of_no_use="ranks what a graph search finds; there is no graph",
    unset="is set, and there is no neural language model",
    load=_load,
    fit=_fit,
    describe=_describe,
    settings=(
        Option(
            "neural_lm_weight", "number", ("weights", "neural_lm"), low=0, high=MAX_WEIGHT,
            help="weight of the neural model where a request names none",
        ),
    ),
    parameters=(
        Option("neural_lm_weight", "number", ("weights", "neural_lm"), low=0, high=MAX_WEIGHT),
    ),
    check=_check,
    recommended=_recommended,
    rescorer=NeuralRescoring,
)  # fmt: skip
