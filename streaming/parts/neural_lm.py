"""The neural language model: its word on what may have been said.

Of each candidate

    score = second_pass + neural_lm_weight * ln P(words)

The graph's n-grams see two words back; this one sees the whole sentence (log-linear interpolation,
as neural models have rescored n-best lists since Mikolov 2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.models.config import DecodingConfig
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
    from earshot.streaming.parts.rescorer import Candidates, CandidateWord

LEAST_BOOSTED = -8.0
"""What a boosted word counts at least: the model cannot expect what a request brings along."""

MOST_SEEN = 40
"""Words of a text by which its end is judged."""


class NeuralRescoring:
    """A `Rescorer`: asked about texts that were found in a graph, where there is a choice."""

    def __init__(self, scorer: SentenceScorer, weight_of: WeightOf) -> None:
        self._scorer = scorer
        self._weight_of = weight_of

    def __call__(self, asked: Sequence[Candidates]) -> list[list[float]]:
        """See `Rescorer`; nothing is said of segments that are too long for the model."""
        gains = [[0.0] * len(each.texts) for each in asked]
        weights = [self._weight(each) for each in asked]
        chosen = [row for row, weight in enumerate(weights) if weight > 0]
        texts = [[[word.text for word in text] for text in asked[row].texts] for row in chosen]
        for row, found in zip(chosen, self._scorer.score(texts), strict=True):
            if found is not None:
                pairs = zip(asked[row].texts, found, strict=True)
                gains[row] = [weights[row] * _log_prob(text, sentence) for text, sentence in pairs]
        return gains

    def _weight(self, asked: Candidates) -> float:
        stream = asked.stream
        if stream.search != "graph" or mode_of(stream.config) != "attention_rescoring":
            return 0.0
        return self._weight_of(stream.config) if len(asked.texts) > 1 else 0.0


class SentenceEnds:
    """An `EndScorer`. It sees the last words of long texts, as many as a sentence may have."""

    def __init__(self, scorer: SentenceScorer) -> None:
        self._scorer = scorer

    def __call__(self, texts: Sequence[Sequence[str]]) -> list[float]:
        """See `EndScorer`."""
        found = self._scorer.score([[text[-MOST_SEEN:]] for text in texts])
        return [-math.inf if scores is None else scores[0].end for scores in found]


def _log_prob(text: Sequence[CandidateWord], sentence: SentenceScore) -> float:
    words = (
        max(log_prob, LEAST_BOOSTED) if word.boosted else log_prob
        for word, log_prob in zip(text, sentence.words, strict=True)
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
    end_scorer=SentenceEnds,
)  # fmt: skip
