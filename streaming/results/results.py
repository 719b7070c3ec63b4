"""From tokens and the frames that emitted them to words with times and confidences."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

from earshot.streaming.events import Alternative, Word
from earshot.streaming.results.hypothesis import Hypothesis

TOKEN_SPAN_S = 0.1
"""A token is taken to last so long, up to the frame that emitted it."""


@dataclass(frozen=True)
class SegmentClock:
    """Places a segment's encoder frames in its stream's time.

    start_s, end_s: of its audio. lead_in_s: how much silence its frames begin with, before that;
    below 0 where they begin behind its end.
    """

    start_s: float
    end_s: float
    frame_s: float
    lead_in_s: float = 0.0

    def at(self, frame: float) -> float:
        """The stream time of a frame's start, within the segment's audio."""
        time_s = round(self.start_s - self.lead_in_s + frame * self.frame_s, 6)
        return min(max(time_s, self.start_s), self.end_s)


def word_times(hypothesis: Hypothesis, clock: SegmentClock) -> list[tuple[float, float]]:
    """Each word's first token's start and last token's end."""
    tokens = token_times(hypothesis.frames, hypothesis.ends, clock)
    return [(tokens[word.first][0], tokens[word.stop - 1][1]) for word in hypothesis.words]


def token_times(
    frames: Sequence[int], ends: Sequence[int] | None, clock: SegmentClock
) -> list[tuple[float, float]]:
    """Start and end of each token, in order and without overlap. ends: see `Hypothesis`."""
    if ends is None:
        return _times_of_spikes(frames, clock)
    return [(clock.at(start), clock.at(stop)) for start, stop in _spans(frames, ends)]


def _spans(frames: Sequence[int], ends: Sequence[int]) -> Iterator[tuple[float, float]]:
    """In frames, each token from its own to its end; none goes on where the next one begins.

    A token of an RNN-T (Graves 2012) lasts one frame, that of a TDT (Xu 2023) the frames that it
    says (NeMo's `RNNTDecoding._compute_offsets_tdt`). Tokens that share a frame divide it, and what
    their longest lasts, evenly; in NeMo's times those that last no frame are empty.
    """
    tokens = groupby(zip(frames, ends, strict=True), itemgetter(0))
    runs: list[tuple[float, list[int]]] = [
        (frame, [end for _, end in run]) for frame, run in tokens
    ]
    for (frame, lasting), (following, _) in pairwise([*runs, (math.inf, [])]):
        length, count = min(max(frame + 1, *lasting), following) - frame, len(lasting)
        for place in range(count):
            yield frame + length * place / count, frame + length * (place + 1) / count


def _times_of_spikes(frames: Sequence[int], clock: SegmentClock) -> list[tuple[float, float]]:
    """Times of tokens of which only the frame is known.

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
    """Words with their times and confidences.

    An utterance's confidence is the mean over its words.
    """
    hypothesis = scored.hypothesis
    words = tuple(
        Word(
            text=word.text,
            start_s=start_s,
            end_s=end_s,
            confidence=confidence,
            boosted=word.boosted,
            read_out=word.read_out,
            written=word.written,
        )
        for word, (start_s, end_s), confidence in zip(
            hypothesis.words, word_times(hypothesis, clock), scored.word_confidences, strict=True
        )
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
