"""A segment that has ended, and the texts about which Whisper's decoder is asked.

Of each text

    score = attention + ctc_weight * first_pass

where `first_pass` holds the boost as well. What the decoder writes itself has no first pass: it
gets that of the best hypothesis, and what CTC's best path through its words has more or less than
through the best hypothesis' words. So it is held to what was heard: where CTC says that a beginning
of it fits better than the whole it ends there, where it fits too badly it is left out, and words
that were boosted stay; phrases that a request disfavours are not brought in. Texts between it and
what was heard (`mixed_texts`) get theirs in the same way.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

from torch import Tensor

from earshot.models.whisper_decoder.mixed_texts import mixed_texts
from earshot.models.whisper_decoder.pen import WrittenWord, dressed
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer, WrittenText

MOST_ASKED = 5
"""Hypotheses of the first pass that are scored, or as many as are to be known if that is more."""

MOST_BETWEEN = 8
"""Texts between an own one and what was heard that are scored."""

REACH = 12.0
"""In nats of the first pass: who is further behind the best is not scored."""

BOUND = 20.0
BOUND_A_WORD = 3.0
"""In nats of CTC: how much worse than the best hypothesis an own one may fit."""

CUT = 10.0
"""In nats of CTC: how much better a beginning must fit than the whole, to be the end."""

UNEXPLAINED = 1 / 8
"""Which share of what CTC leaves unexplained counts against a lone word; see `is_nothing`."""


class Hearing(Protocol):
    """CTC's side of one segment."""

    def of_first_words(self, words: Sequence[str]) -> list[float] | None:
        """Log-probabilities of the best paths that spell none, one, ... and all of the words.

        None for words that cannot be spelled.
        """


class Fitting(NamedTuple):
    """A text that fits, and how many nats of CTC it is behind the best hypothesis."""

    words: list[WrittenWord]
    behind: float


class HeardSegment:
    """What the first pass has heard, best first, and what is asked about it.

    words: of each hypothesis, bare. first_pass: their scores in nats, which count `ctc_weight`.
    boosted: which words of the best are. alone: whether an own text that fits is asked about and
    nothing else. unwanted: words of phrases that are not brought in. wanted: how many texts are to
    be known. adds_own: whether the first text that is added is the own one.
    """

    def __init__(
        self,
        words: Sequence[Sequence[str]],
        first_pass: Sequence[float],
        hearing: Hearing,
        ctc_weight: float,
        *,
        boosted: Sequence[bool] = (),
        alone: bool = False,
        unwanted: Sequence[Sequence[str]] = (),
        wanted: int = 1,
    ) -> None:
        near = [score for score in first_pass if first_pass[0] - score <= REACH]
        self.asked = list(words[: len(near)])[: max(MOST_ASKED, wanted)]
        self.best = words[0]
        self.alone = alone
        self.ctc_weight = ctc_weight
        self.wanted = wanted
        self._first_pass = first_pass
        self.adds_own = False
        self._added: list[float] = []
        self._hearing = hearing
        self._boosted = boosted
        self._unwanted = [each for each in unwanted if not _holds(self.best, each)]

    def candidates(self, own: Sequence[WrittenWord]) -> list[list[WrittenWord]]:
        """Hypotheses that are asked about in their written forms, then the texts that are added.

        Those are an own text that is held, where nobody has heard it, and those between the two.
        """
        listed = [dressed(words, own) for words in self.asked]
        added = self._to_add(own)
        if self.alone and added:
            self.asked, listed = [], []
        self._added = [self._first_pass[0] - behind for _, behind in added]
        return [*listed, *(text for text, _ in added)]

    def is_nothing(self, text: WrittenText) -> bool:
        """Whether a text is a lone word, not boosted, that noise has left where nobody spoke.

        By CTC and the decoder together it explains the segment no better than silence does.
        """
        if len(text.words) != 1 or any(self._boosted):
            return False
        fit = self._hearing.of_first_words(_bare(text.words))
        if fit is None:
            return False
        return fit[-1] - fit[0] + UNEXPLAINED * fit[-1] + text.total < 0.0

    def first_passes(self) -> list[float]:
        """Scores of the hypotheses that are asked about, and then of the texts that are added."""
        return [*self._first_pass[: len(self.asked)], *self._added]

    def _to_add(self, own: Sequence[WrittenWord]) -> list[Fitting]:
        held = self._held(own)
        if held is None:
            return []
        words = _bare(held.words)
        self.adds_own = words not in map(list, self.asked) and self._may_add(words)
        added = [held] if self.adds_own else []
        return added if self.alone else [*added, *self._between(held.words)]

    def _between(self, own: Sequence[WrittenWord]) -> list[Fitting]:
        """Texts between an own one and what was heard: those that fit best."""
        fitting: list[tuple[float, list[str]]] = []
        for words in filter(self._may_add, mixed_texts(_bare(own), self._mixable)):
            fit = self._hearing.of_first_words(words)
            if fit and (behind := self._behind(fit[-1])) is not None:
                fitting.append((behind, words))
        nearest = sorted(fitting, key=lambda each: each[0])[:MOST_BETWEEN]
        return [Fitting(dressed(words, own), behind) for behind, words in nearest]

    def _may_add(self, words: Sequence[str]) -> bool:
        return not any(_holds(words, phrase) for phrase in self._unwanted)

    @property
    def _mixable(self) -> Sequence[Sequence[str]]:
        """Hypotheses that have all boosted words."""
        return [self.best] if any(self._boosted) else self.asked

    def _held(self, own: Sequence[WrittenWord]) -> Fitting | None:
        """The first words of an own text that CTC lets stand; None where these fit too badly."""
        words = self._with_boosted(own)
        fit = self._hearing.of_first_words(_bare(words))
        stop = _stop(fit) if fit else 0
        if not fit or not stop or (behind := self._behind(fit[stop])) is None:
            return None
        return Fitting(dressed(_bare(words[:stop]), words[:stop]), behind)

    def _behind(self, fit: float) -> float | None:
        """How much worse words fit than the best hypothesis; None for too much."""
        if self._best_fit is None:
            return None
        behind = self._best_fit[-1] - fit
        most = BOUND + BOUND_A_WORD * len(self.best)
        return behind if math.isfinite(behind) and behind <= most else None

    @cached_property
    def _best_fit(self) -> list[float] | None:
        return self._hearing.of_first_words(self.best)

    def _with_boosted(self, own: Sequence[WrittenWord]) -> list[WrittenWord]:
        """An own text in which boosted words of the best hypothesis are where they were heard."""
        if not any(self._boosted):
            return list(own)
        found: list[str] = []
        matcher = difflib.SequenceMatcher(None, _bare(own), self.best, autojunk=False)
        for _, begin, stop, first, last in matcher.get_opcodes():
            boosted = any(self._boosted[first:last])
            found += self.best[first:last] if boosted else _bare(own[begin:stop])
        return dressed(found, own)


class RankedText(NamedTuple):
    """A text with its first pass and its whole score, or the most that this can be."""

    text: WrittenText
    first_pass: float
    score: float


Texts: TypeAlias = Sequence[Sequence[Sequence[WrittenWord]]]
"""Of each segment."""


def nothing_gained(texts: Texts) -> list[list[float]]:
    """Gains of texts for which nothing else counts."""
    return [[0.0] * len(own) for own in texts]


def written_texts(
    scorer: WhisperScorer,
    heard: Sequence[HeardSegment],
    memory: Tensor,
    lengths: Tensor,
    gains: Callable[[Texts], list[list[float]]] = nothing_gained,
    on_pass: Callable[[], None] = lambda: None,
) -> list[list[RankedText]]:
    """Texts of each segment: those of `asked`, then those that are added.

    The best ones are known whole, others as far as it takes to tell that they are not among them.
    memory (S, T, D) of lengths (S,). gains: what else counts for each text, in nats. `on_pass` is
    called before each pass of the decoder.
    """
    segments = scorer.listen(memory, lengths)
    own = segments.write([each.best for each in heard], on_pass)
    asked = [each.candidates(words) for each, words in zip(heard, own, strict=True)]
    first_passes = [each.first_passes() for each in heard]
    priors = [
        [each.ctc_weight * score + gain for score, gain in zip(scores, gained, strict=True)]
        for each, scores, gained in zip(heard, first_passes, gains(asked), strict=True)
    ]
    found = segments.rank(asked, priors, [each.wanted for each in heard], on_pass)
    return [
        [
            RankedText(text, score, text.total + prior)
            for text, score, prior in zip(texts, scores, known, strict=True)
        ]
        for texts, scores, known in zip(found, first_passes, priors, strict=True)
    ]


def _stop(fit: Sequence[float]) -> int:
    """The number of first words that an own text keeps."""
    best = max(range(len(fit)), key=lambda count: fit[count])
    return best if fit[best] > fit[-1] + CUT else len(fit) - 1


def _holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the words of the phrase stand there in a row."""
    size = len(phrase)
    starts = range(len(words) - size + 1)
    return any(list(words[start : start + size]) == list(phrase) for start in starts)


def _bare(words: Sequence[WrittenWord]) -> list[str]:
    return [word.bare for word in words]
