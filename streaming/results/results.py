"""From tokens and the frames that emitted them to words with times and confidences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from earshot.streaming.events import Alternative, Word
from earshot.streaming.results.hypothesis import Hypothesis

TOKEN_SPAN_S = 0.1
"""A token is taken to last so long, up to the frame that emitted it."""


@dataclass(frozen=True)
class SegmentClock:
    """Places a segment's encoder frames in its stream's time.

    start_s, end_s: of its audio. lead_in_s: how much silence its frames begin with, before that.
    """

    start_s: float
    end_s: float
    frame_s: float
    lead_in_s: float = 0.0

    def at(self, frame: float) -> float:
        """The stream time of a frame's start, within the segment's audio."""
        time_s = round(self.start_s - self.lead_in_s + frame * self.frame_s, 6)
        return min(max(time_s, self.start_s), self.end_s)


def token_times(frames: Sequence[int], clock: SegmentClock) -> list[tuple[float, float]]:
    """Start and end of each token, in order and without overlap.

    WeNet's rule (`asr_decoder.cc`, UpdateResult): a token ends where it was emitted and starts 100
    ms earlier; neighbours that are closer than that meet in the middle. WeNet counts a frame from
    its first feature, 40 ms too early, and rounds the middle down to whole frames, so that words
    may overlap.
    """
    earliest = min(clock.start_s + clock.frame_s, clock.end_s)  # of a spike in the lead-in
    spikes = [max(clock.at(frame + 1), earliest) for frame in frames]
    times = []
    for index, spike in enumerate(spikes):
        start, end = max(spike - TOKEN_SPAN_S, clock.start_s), spike
        if index and spike - spikes[index - 1] < TOKEN_SPAN_S:
            start = (spikes[index - 1] + spike) / 2
        if index + 1 < len(spikes) and spikes[index + 1] - spike < TOKEN_SPAN_S:
            end = (spike + spikes[index + 1]) / 2
        times.append((start, end))
    return times


@dataclass(frozen=True)
class Scored:
    """A hypothesis with what the last pass that saw it says of it.

    attention_confidences: of each token, from the second pass; None where it has not looked.
    """

    hypothesis: Hypothesis
    score: float
    attention_confidences: Sequence[float] | None = None

    @property
    def word_confidences(self) -> Sequence[float]:
        """Confidences of words: the search's own, or else geometric means over their tokens."""
        sure = self.hypothesis.word_confidences
        if sure is not None:
            return sure
        tokens = self.token_confidences
        return [_geometric_mean(tokens[word.first : word.stop]) for word in self.hypothesis.words]

    @property
    def token_confidences(self) -> Sequence[float]:
        """Without a second pass, the posteriors at the emission frames."""
        if self.attention_confidences is not None:
            return self.attention_confidences
        return [math.exp(value) for value in self.hypothesis.token_log_probs]


def first_pass_scores(hypothesis: Hypothesis) -> Scored:
    """The hypothesis as CTC sees it."""
    return Scored(hypothesis, hypothesis.score)


def alternative(scored: Scored, clock: SegmentClock) -> Alternative:
    """Words, each from its first token's start to its last token's end.

    An utterance's confidence is the mean over its words.
    """
    hypothesis = scored.hypothesis
    times = token_times(hypothesis.frames, clock)
    words = tuple(
        Word(
            text=word.text,
            start_s=times[word.first][0],
            end_s=times[word.stop - 1][1],
            confidence=confidence,
            boosted=word.boosted,
            read_out=word.read_out,
            written=word.written,
        )
        for word, confidence in zip(hypothesis.words, scored.word_confidences, strict=True)
    )
    confidence = sum(word.confidence for word in words) / len(words) if words else 0.0
    return Alternative(hypothesis.text, words, confidence, scored.score)


def distinct(candidates: Sequence[Scored], count: int) -> list[Scored]:
    """The first `count` candidates whose texts differ; tokens may differ where texts do not."""
    by_text: dict[str, Scored] = {}
    for candidate in candidates:
        by_text.setdefault(candidate.hypothesis.text, candidate)
    return list(by_text.values())[:count]


def _geometric_mean(values: Sequence[float]) -> float:
    logs = [math.log(max(value, 1e-30)) for value in values]
    return min(math.exp(sum(logs) / len(logs)), 1.0)
