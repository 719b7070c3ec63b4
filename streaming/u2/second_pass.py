"""The second pass: the attention decoder's word on all segments that end in a step, in one batch.

Source: U2 (Zhang 2020) and U2++ (Wu 2021). Of each hypothesis of the first pass

    score = (1 - reverse_weight) * left + reverse_weight * right + ctc_weight * first_pass

where `first_pass` holds the boost as well, so that a boosted word keeps its advantage.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from earshot.decoder_kernels.alignment import align
from earshot.decoder_kernels.prefix.prefix_search import PrefixHypothesis
from earshot.models.native.precision import Precision
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.u2.attention_search import AttentionHypothesis, attention_beam_search
from earshot.models.u2.rescoring import AttentionScorer, AttentionScores
from earshot.models.u2.u2 import U2Model
from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.engine.pulse import Beat, unheard
from earshot.streaming.results.hypothesis import Hypothesis, TokenHypothesis
from earshot.streaming.results.results import Scored, first_pass_scores
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.search.search import padded
from earshot.streaming.stream.lane import Ending
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.pass_weights import PassWeights

_LENGTH_PENALTY = 1.0
"""Mode "attention" ranks by score per token: the sum alone favours hypotheses that stop early."""

_ATTENTION_MODES = ("attention_rescoring", "attention")


class SecondPass:
    """Scores endings by what their streams' modes ask for."""

    def __init__(
        self,
        model: U2Model,
        heads: CtcNetwork,
        tokenizer: Tokenizer,
        beam_size: int,
        weights: PassWeights,
        precision: Precision = "float32",
    ) -> None:
        self._model = model
        self._heads = heads
        self._attention = AttentionScorer.of(model, precision)
        self._tokenizer = tokenizer
        self._beam_size = beam_size
        self._weights = weights

    def __call__(self, endings: Sequence[Ending], beat: Beat = unheard) -> None:
        """Fill in `scored`, best first, for every ending."""
        attended = [e for e in endings if not e.empty and _is_attended(e.stream.config)]
        for ending in endings:
            ending.scored = [first_pass_scores(hypothesis) for hypothesis in ending.hypotheses]
        if attended:
            memory, lengths = _memories(attended)
            candidates = self._candidates(attended, memory, lengths, beat)
            beat()
            self._score(attended, candidates, memory, lengths)

    def _candidates(
        self, endings: Sequence[Ending], memory: Tensor, lengths: Tensor, beat: Beat
    ) -> list[list[Hypothesis]]:
        """The first pass's hypotheses, or in mode "attention" the decoder's own."""
        candidates = [ending.hypotheses for ending in endings]
        own = [row for row, e in enumerate(endings) if mode_of(e.stream.config) == "attention"]
        if own:
            rows = torch.tensor(own, device=memory.device)
            found = attention_beam_search(
                self._model, memory[rows], lengths[rows], self._beam_size, _LENGTH_PENALTY, beat
            )
            for row, hypotheses in zip(own, found, strict=True):
                beat()
                candidates[row] = self._place(endings[row], hypotheses)
        return candidates

    def _place(self, ending: Ending, hypotheses: Sequence[AttentionHypothesis]) -> list[Hypothesis]:
        """Give the decoder's hypotheses times, by CTC alignment with the segment."""
        log_probs = self._heads.ctc_log_probs(ending.stream.segment.memory()).float()
        found = [
            PrefixHypothesis(
                tokens=tuple(h.tokens),
                frames=tuple(align(log_probs, h.tokens, self._model.blank_id)),
                score=h.normalised(_LENGTH_PENALTY),
                ctc_score=0.0,
                boost_score=0.0,
                token_log_probs=(0.0,) * len(h.tokens),
            )
            for h in hypotheses
        ]
        return [TokenHypothesis(each, self._tokenizer, NO_BOOSTS) for each in found]

    def _score(
        self,
        endings: Sequence[Ending],
        candidates: Sequence[Sequence[Hypothesis]],
        memory: Tensor,
        lengths: Tensor,
    ) -> None:
        weights = [self._weights_of(ending.stream.config) for ending in endings]
        owner = [row for row, own in enumerate(candidates) for _ in own]
        tokens = [hypothesis.tokens for own in candidates for hypothesis in own]
        reverse = any(weight.reverse > 0 for weight in weights)
        scores = self._attention(memory, lengths, tokens, owner, reverse)
        rows = iter(range(len(tokens)))
        for ending, weight, own in zip(endings, weights, candidates, strict=True):
            scored = [weight.score(hypothesis, scores, next(rows)) for hypothesis in own]
            ending.scored = sorted(scored, key=lambda each: -each.score)

    def _weights_of(self, config: StreamConfig) -> "_Weights":
        asked = self._weights.changed_by(config.weights)
        reverse = 0.0 if self._model.right_decoder is None else asked.reverse
        return _Weights(own=mode_of(config) == "attention", ctc=asked.ctc, reverse=reverse)


@dataclass(frozen=True)
class _Weights:
    """How one stream weighs its passes; `own` where the decoder's own search has scored already."""

    own: bool
    ctc: float
    reverse: float

    def score(self, hypothesis: Hypothesis, scores: AttentionScores, row: int) -> Scored:
        """The formula at the top; a token's confidence is its probability, weighted likewise."""
        attention = (1 - self.reverse) * scores.left[row]
        confidences = [(1 - self.reverse) * math.exp(p) for p in scores.left_token_log_probs[row]]
        if self.reverse and scores.right_token_log_probs is not None:
            attention += self.reverse * scores.right[row]
            backwards = scores.right_token_log_probs[row]
            confidences = [
                confidence + self.reverse * math.exp(p)
                for confidence, p in zip(confidences, backwards, strict=True)
            ]
        score = hypothesis.score if self.own else attention + self.ctc * hypothesis.score
        return Scored(hypothesis, score, confidences)


def _is_attended(config: StreamConfig) -> bool:
    return mode_of(config) in _ATTENTION_MODES


def _memories(endings: Sequence[Ending]) -> tuple[Tensor, Tensor]:
    """The segments' encoder frames `(S, T, D)`, padded, and their lengths `(S,)`."""
    return padded([ending.stream.segment.memory() for ending in endings])
