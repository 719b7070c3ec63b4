"""The second pass by Whisper's decoder: ranks what was heard, adds its own, and writes both.

Of each hypothesis

    score = attention + ctc_weight * first_pass

where `first_pass` holds the boost as well. What the decoder writes itself has no first pass: it
gets that of the best hypothesis, and what CTC's best path through its words has more or less than
through the best hypothesis' words. So it is held to what was heard: where CTC says that a
beginning of it fits better than the whole it ends there, where it fits too badly it is left out,
and words that were boosted stay.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from earshot.models.tokenizer import Tokenizer
from earshot.models.whisper_decoder.pen import WrittenWord, dressed
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer, WrittenText
from earshot.streaming.engine.pulse import Beat, unheard
from earshot.streaming.results.hypothesis import Hypothesis, SpokenWord
from earshot.streaming.results.results import Scored, first_pass_scores
from earshot.streaming.results.retold import written_as
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.search.search import padded
from earshot.streaming.search.word_hypothesis import SegmentPosteriors
from earshot.streaming.stream.lane import Ending
from earshot.streaming.u2.held_to_ctc import CtcHearing, SegmentHearing
from earshot.streaming.u2.own_hypothesis import own_hypothesis
from earshot.streaming.u2.pass_weights import PassWeights

MOST_ASKED = 8
"""Hypotheses of the first pass that are scored, however many there are."""

REACH = 12.0
"""In nats of the first pass: who is further behind the best is not scored."""

BOUND = 20.0
BOUND_A_WORD = 3.0
"""In nats of CTC: how much worse than the best hypothesis an own one may fit."""

CUT = 10.0
"""In nats of CTC: how much better a beginning must fit than the whole, to be the end."""


class WrittenPass:
    """Scores endings by what their streams' modes ask for."""

    def __init__(
        self,
        scorer: WhisperScorer,
        hearing: CtcHearing,
        heads: CtcNetwork,
        tokenizer: Tokenizer,
        weights: PassWeights,
    ) -> None:
        self._scorer = scorer
        self._hearing = hearing
        self._heads = heads
        self._tokenizer = tokenizer
        self._weights = weights

    def __call__(self, endings: Sequence[Ending], beat: Beat = unheard) -> None:
        """Fill in `scored`, best first, for every ending."""
        for ending in endings:
            ending.scored = [first_pass_scores(hypothesis) for hypothesis in ending.hypotheses]
        attended = [e for e in endings if not e.empty and mode_of(e.stream.config) in _MODES]
        if attended:
            self._attend([_Heard(e, self._hearing) for e in attended], beat)

    @torch.inference_mode()
    def _attend(self, heard: Sequence[_Heard], beat: Beat) -> None:
        memory, lengths = _memories(heard)
        segments = self._scorer.listen(memory, lengths)
        own = segments.write([each.best for each in heard], beat)
        asked = [each.candidates(words) for each, words in zip(heard, own, strict=True)]
        beat()
        texts = segments.score(asked)
        for each, found in zip(heard, texts, strict=True):
            weight = self._weights.changed_by(each.ending.stream.config.weights).ctc
            each.ending.scored = self._ranked(each, found, weight)

    def _ranked(self, heard: _Heard, found: Sequence[WrittenText], weight: float) -> list[Scored]:
        """Best first; hypotheses that were not asked about stay behind, at the least score."""
        listed = zip(heard.asked, found, strict=False)
        scored = [_rescored(hypothesis, text, weight) for hypothesis, text in listed]
        for own in found[len(heard.asked) :]:
            scored += self._own(heard, own, weight)
        if not scored:
            return heard.ending.scored
        least = min(each.score for each in scored)
        scored.sort(key=lambda each: -each.score)
        rest = [] if heard.alone else heard.ending.hypotheses[len(heard.asked) :]
        return scored + [Scored(each, min(each.score, least)) for each in rest]

    def _own(self, heard: _Heard, text: WrittenText, weight: float) -> list[Scored]:
        posteriors = SegmentPosteriors(self._heads, heard.ending.stream.segment)
        first_pass = heard.first_pass_of_own
        hypothesis = own_hypothesis(
            text.words,
            heard.places_of(text.words),
            first_pass,
            _confidences(text),
            self._tokenizer,
            posteriors,
        )
        if hypothesis is None:
            return []
        return [Scored(hypothesis, text.total + weight * first_pass)]


class _Heard:
    """A segment as the first pass has heard it, and the texts that are asked about."""

    def __init__(self, ending: Ending, hearing: CtcHearing) -> None:
        self.ending = ending
        self.alone = mode_of(ending.stream.config) == "attention"
        self.first_pass_of_own = 0.0
        first = ending.hypotheses[0]
        self.best = [word.text.lower() for word in first.words]
        near = [h for h in ending.hypotheses if first.score - h.score <= REACH]
        self.asked: list[Hypothesis] = near[:MOST_ASKED]
        self._hearing = hearing
        self.memory = ending.stream.segment.memory()

    def candidates(self, own: Sequence[WrittenWord]) -> list[list[WrittenWord]]:
        """Hypotheses that are asked about in their written forms, and an own text that is held."""
        listed = [dressed([word.text.lower() for word in each.words], own) for each in self.asked]
        held = self._held(own, self._hearing.of(self.memory))
        if held is None or any(_bare(held) == _bare(words) for words in listed):
            return listed
        if self.alone:
            self.asked = []
            return [held]
        return [*listed, held]

    def _held(
        self, own: Sequence[WrittenWord], hearing: SegmentHearing
    ) -> list[WrittenWord] | None:
        words = self._with_boosted(own)
        fit, best_fit = hearing.of_first_words(_bare(words)), hearing.of_first_words(self.best)
        if not words or fit is None or best_fit is None:
            return None
        stop = _stop(fit)
        behind = best_fit[-1] - fit[stop]
        if not behind <= BOUND + BOUND_A_WORD * len(self.best):
            return None
        self.first_pass_of_own = self.ending.hypotheses[0].score - behind
        return dressed(_bare(words[:stop]), words[:stop]) if stop else None

    def _with_boosted(self, own: Sequence[WrittenWord]) -> list[WrittenWord]:
        """An own text in which boosted words of the best hypothesis are where they were heard."""
        spoken = self.ending.hypotheses[0].words
        if not any(word.boosted for word in spoken):
            return list(own)
        found: list[str] = []
        matcher = difflib.SequenceMatcher(None, _bare(own), self.best, autojunk=False)
        for _, begin, stop, first, last in matcher.get_opcodes():
            boosted = any(word.boosted for word in spoken[first:last])
            found += self.best[first:last] if boosted else _bare(own[begin:stop])
        return dressed(found, own)

    def places_of(self, words: Sequence[WrittenWord]) -> list[SpokenWord | None]:
        """The best hypothesis' word in the place of each, None where it has another."""
        spoken = self.ending.hypotheses[0].words
        found: list[SpokenWord | None] = [None] * len(words)
        matcher = difflib.SequenceMatcher(None, _bare(words), self.best, autojunk=False)
        for begin, first, size in matcher.get_matching_blocks():
            found[begin : begin + size] = spoken[first : first + size]
        return found


_MODES = ("attention_rescoring", "attention")


def _stop(fit: Sequence[float]) -> int:
    """The number of first words that an own text keeps."""
    best = max(range(len(fit)), key=lambda count: fit[count])
    return best if fit[best] > fit[-1] + CUT else len(fit) - 1


def _rescored(heard: Hypothesis, text: WrittenText, weight: float) -> Scored:
    written = written_as(heard, [word.form for word in text.words])
    return Scored(written, text.total + weight * heard.score)


def _bare(words: Sequence[WrittenWord]) -> list[str]:
    return [word.bare for word in words]


def _confidences(text: WrittenText) -> list[float]:
    return [min(math.exp(log_prob), 1.0) for log_prob in text.by_word]


def _memories(heard: Sequence[_Heard]) -> tuple[Tensor, Tensor]:
    """The segments' encoder frames `(S, T, D)`, padded, and their lengths `(S,)`."""
    return padded([each.memory for each in heard])
