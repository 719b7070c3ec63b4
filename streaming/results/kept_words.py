"""Words that a client was told are stable: they stay, whatever another search of them says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from earshot.streaming.results.hypothesis import Best, Hypothesis, SpokenWord
from earshot.streaming.results.results import first_pass_scores
from earshot.streaming.words.graph_words import joined


@dataclass(frozen=True)
class KeptWords:
    """The first words of a segment, as they were told; `frames` are the segment's."""

    words: tuple[SpokenWord, ...] = ()
    confidences: tuple[float, ...] = ()
    tokens: tuple[int, ...] = ()
    frames: tuple[int, ...] = ()
    token_log_probs: tuple[float, ...] = ()
    ends: tuple[int, ...] | None = None

    @classmethod
    def of(cls, found: Hypothesis, count: int) -> "KeptWords":
        """The first `count` words of a hypothesis. Their times are looked for now."""
        if not count:
            return cls()
        words = tuple(found.words[:count])
        stop = words[-1].stop
        return cls(
            words,
            tuple(first_pass_scores(found).word_confidences[:count]),
            tuple(found.tokens[:stop]),
            tuple(found.frames[:stop]),
            tuple(found.token_log_probs[:stop]),
            None if found.ends is None else tuple(found.ends[:stop]),
        )

    def until(self, frames: int) -> "KeptWords":
        """The words that end within so many frames."""
        count = sum(self.frames[word.stop - 1] < frames for word in self.words)
        stop = self.words[count - 1].stop if count else 0
        return KeptWords(
            self.words[:count],
            self.confidences[:count],
            self.tokens[:stop],
            self.frames[:stop],
            self.token_log_probs[:stop],
            None if self.ends is None else self.ends[:stop],
        )

    def best(self, best: Best) -> Best:
        """With at least these words, which are stable."""
        if self._begin(best.hypothesis):
            return replace(best, stable_words=max(best.stable_words, len(self.words)))
        return Best(Continued(self, best.hypothesis), len(self.words))

    def nbest(self, found: list[Hypothesis]) -> list[Hypothesis]:
        """The hypotheses that begin with these words; if none does, all as they go on after."""
        if not self.words:
            return found
        keeping = [each for each in found if self._begin(each)]
        return keeping or [Continued(self, each) for each in found]

    def _begin(self, found: Hypothesis) -> bool:
        texts = [word.text for word in self.words]
        return [word.text for word in found.words[: len(texts)]] == texts


@dataclass(frozen=True)
class Continued:
    """Kept words, and what a hypothesis has after the last of them; see `Hypothesis`."""

    kept: KeptWords
    found: Hypothesis

    @cached_property
    def _skipped(self) -> int:
        """How many words of the hypothesis begin before the kept ones end."""
        frames, last = self.found.frames, self.kept.frames[-1]
        return sum(frames[word.first] <= last for word in self.found.words)

    @cached_property
    def _new(self) -> Sequence[SpokenWord]:
        """The words that follow; what is left of a member whose beginning is skipped is none."""
        words = self.found.words[self._skipped :]
        left = sum(1 for _ in takewhile(lambda word: word.goes_on, words))
        return [*(word.by_itself for word in words[:left]), *words[left:]]

    @cached_property
    def _rest(self) -> slice:
        """The tokens of the words that follow."""
        return slice(self._new[0].first if self._new else len(self.found.tokens), None)

    @property
    def score(self) -> float:
        """That of the hypothesis."""
        return self.found.score

    @cached_property
    def text(self) -> str:
        """The words with spaces between them."""
        return joined([word.text for word in self.words])

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """The kept tokens, then the new ones."""
        return (*self.kept.tokens, *self.found.tokens[self._rest])

    @cached_property
    def words(self) -> Sequence[SpokenWord]:
        """The kept words, then the new ones."""
        moved = len(self.kept.tokens) - self._rest.start
        return [
            *self.kept.words,
            *(
                replace(word, first=word.first + moved, stop=word.stop + moved)
                for word in self._new
            ),
        ]

    @cached_property
    def word_confidences(self) -> Sequence[float] | None:
        """Where the search of the rest knows some."""
        sure = self.found.word_confidences
        return None if sure is None else [*self.kept.confidences, *sure[self._skipped :]]

    @cached_property
    def frames(self) -> Sequence[int]:
        """The frames of the kept tokens, then of the new ones."""
        return [*self.kept.frames, *self.found.frames[self._rest]]

    @cached_property
    def ends(self) -> Sequence[int] | None:
        """The ends of the kept tokens, then of the new ones, where those of both are known."""
        kept, new = self.kept.ends, self.found.ends
        return None if kept is None or new is None else [*kept, *new[self._rest]]

    @cached_property
    def token_log_probs(self) -> Sequence[float]:
        """The log-probabilities of the kept tokens, then of the new ones."""
        return [*self.kept.token_log_probs, *self.found.token_log_probs[self._rest]]


NO_WORDS = KeptWords()
