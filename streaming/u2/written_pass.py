"""The second pass by Whisper's decoder: ranks what was heard, adds its own, and writes both.

See `heard_segment` for what is asked about a segment, and for the score.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.u2.held_to_ctc import CtcHearing
from earshot.models.whisper_decoder.heard_segment import (
    HeardSegment,
    RankedText,
    Texts,
    written_texts,
)
from earshot.models.whisper_decoder.pen import WrittenWord
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer, WrittenText
from earshot.streaming.engine.pulse import Beat, unheard
from earshot.streaming.parts.rescorer import Candidates, CandidateWord, Rescorer, gains
from earshot.streaming.results.hypothesis import Hypothesis, SpokenWord
from earshot.streaming.results.results import Scored, first_pass_scores
from earshot.streaming.results.retold import written_as
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.search.search import padded
from earshot.streaming.search.word_hypothesis import SegmentPosteriors
from earshot.streaming.stream.lane import Ending
from earshot.streaming.u2.own_hypothesis import own_hypothesis
from earshot.streaming.u2.pass_weights import PassWeights


class WrittenPass:
    """Scores endings by what their streams' modes ask for.

    rescorers: of the model's parts. They are asked before the decoder, which costs most: it then
    has to know one text to its end, and of others only that they are behind.
    """

    def __init__(
        self,
        scorer: WhisperScorer,
        hearing: CtcHearing,
        heads: CtcNetwork,
        tokenizer: Tokenizer,
        weights: PassWeights,
        rescorers: Sequence[Rescorer] = (),
    ) -> None:
        self._scorer = scorer
        self._hearing = hearing
        self._heads = heads
        self._tokenizer = tokenizer
        self._weights = weights
        self._rescorers = rescorers

    def __call__(self, endings: Sequence[Ending], beat: Beat = unheard) -> None:
        """Fill in `scored`, best first, for every ending."""
        for ending in endings:
            ending.scored = [first_pass_scores(hypothesis) for hypothesis in ending.hypotheses]
        attended = [e for e in endings if not e.empty and mode_of(e.stream.config) in _MODES]
        if attended:
            self._attend([self._heard(ending) for ending in attended], beat)

    def _heard(self, ending: Ending) -> _Heard:
        weights = self._weights.changed_by(ending.stream.config.weights)
        return _Heard(ending, self._hearing, weights.ctc)

    @torch.inference_mode()
    def _attend(self, heard: Sequence[_Heard], beat: Beat) -> None:
        memory, lengths = padded([each.memory for each in heard])
        worth = partial(self._gains, heard)
        texts = written_texts(self._scorer, heard, memory, lengths, worth, beat)
        for each, found in zip(heard, texts, strict=True):
            each.ending.scored = self._ranked(each, found)

    def _gains(self, heard: Sequence[_Heard], texts: Texts) -> list[list[float]]:
        """The sum of what parts add to each text of each segment."""
        pairs = zip(heard, texts, strict=True)
        return gains(self._rescorers, [each.candidates_of(own) for each, own in pairs])

    def _ranked(self, heard: _Heard, found: Sequence[RankedText]) -> list[Scored]:
        """Best first; hypotheses that were not asked about to their ends stay behind the others."""
        count = len(heard.asked)
        known, behind = list[tuple[Scored, RankedText]](), list[Scored]()
        for hypothesis, text in zip(heard.ending.hypotheses, found[:count], strict=False):
            rescored = _rescored(hypothesis, text)
            if text.text.whole:
                known.append((rescored, text))
            else:
                behind.append(rescored)
        for own in found[count:]:
            known += [(each, own) for each in self._own(heard, own) if own.text.whole]
        if not known:
            return heard.ending.scored
        known.sort(key=lambda each: -each[0].score)
        scored = [*self._nothing(heard, known[0][1]), *(each for each, _ in known)]
        behind.sort(key=lambda each: -each.score)
        if not heard.alone:
            behind += map(first_pass_scores, heard.ending.hypotheses[count:])
        least = scored[-1].score
        return scored + [replace(each, score=min(each.score, least)) for each in behind]

    def _nothing(self, heard: _Heard, best: RankedText) -> list[Scored]:
        """No words, before the best of all texts where that is what noise has left."""
        if not heard.is_nothing(best.text):
            return []
        return self._own(heard, best._replace(text=WrittenText((), (), best.text.total)))

    def _own(self, heard: _Heard, ranked: RankedText) -> list[Scored]:
        text = ranked.text
        hypothesis = own_hypothesis(
            text.words,
            heard.places_of(text.words),
            ranked.first_pass,
            _confidences(text),
            self._tokenizer,
            SegmentPosteriors(self._heads, heard.ending.stream.segment),
        )
        return [] if hypothesis is None else [Scored(hypothesis, ranked.score)]


class _Heard(HeardSegment):
    """A segment of a stream."""

    def __init__(self, ending: Ending, hearing: CtcHearing, ctc_weight: float) -> None:
        self.ending = ending
        self.memory = ending.stream.segment.memory()
        super().__init__(
            [[word.text.lower() for word in each.words] for each in ending.hypotheses],
            [each.score for each in ending.hypotheses],
            hearing.of(self.memory),
            ctc_weight,
            boosted=[word.is_named for word in ending.hypotheses[0].words],
            alone=mode_of(ending.stream.config) == "attention",
            unwanted=[
                b.phrase.lower().split() for b in ending.stream.config.boosts if b.weight < 0
            ],
            wanted=ending.stream.config.alternatives,
        )

    def candidates_of(self, texts: Sequence[Sequence[WrittenWord]]) -> Candidates:
        """The texts, hypotheses that are asked about first; which words the request has named."""
        spoken = [each.words for each in self.ending.hypotheses[: len(self.asked)]]
        added = [self._boosted_places(words) for words in texts[len(self.asked) :]]
        return Candidates(
            self.ending.stream,
            [
                [_candidate(*each) for each in zip(words, places, strict=True)]
                for words, places in zip(texts, [*spoken, *added], strict=True)
            ],
        )

    def _boosted_places(self, words: Sequence[WrittenWord]) -> list[SpokenWord | None]:
        return self.places_of(words) if any(self._boosted) else [None] * len(words)

    def places_of(self, words: Sequence[WrittenWord]) -> list[SpokenWord | None]:
        """The best hypothesis' word in the place of each, None where it has another."""
        spoken = self.ending.hypotheses[0].words
        found: list[SpokenWord | None] = [None] * len(words)
        bare = [word.bare for word in words]
        matcher = difflib.SequenceMatcher(None, bare, self.best, autojunk=False)
        for begin, first, size in matcher.get_matching_blocks():
            found[begin : begin + size] = spoken[first : first + size]
        return found


_MODES = ("attention_rescoring", "attention")


def _candidate(word: WrittenWord, said: SpokenWord | None) -> CandidateWord:
    return CandidateWord(word.bare, said is not None and said.is_named)


def _rescored(heard: Hypothesis, ranked: RankedText) -> Scored:
    return Scored(written_as(heard, [word.form for word in ranked.text.words]), ranked.score)


def _confidences(text: WrittenText) -> list[float]:
    return [min(math.exp(log_prob), 1.0) for log_prob in text.by_word]
