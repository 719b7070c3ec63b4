"""From tokens and the frames that emitted them to words with times and confidences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from decoder_kernels.prefix_search import PrefixHypothesis
from models.tokenizer import Tokenizer
from streaming.boosting import CompiledBoosts
from streaming.events import Alternative, Word

TOKEN_SPAN_S = 0.1
"""A token is taken to last so long, up to the frame that emitted it."""


@dataclass(frozen=True)
class SegmentClock:
    """Places a segment's encoder frames in its stream's time; `end_s` is the end of the audio."""

    start_s: float
    end_s: float
    frame_s: float

    def at(self, frame: float) -> float:
        """The stream time of a frame's start, within the segment's audio."""
        return min(round(self.start_s + frame * self.frame_s, 6), self.end_s)


def token_times(frames: Sequence[int], clock: SegmentClock) -> list[tuple[float, float]]:
    """Start and end of each token, in order and without overlap.

    WeNet's rule (`asr_decoder.cc`, UpdateResult): a token ends where it was emitted and starts 100
    ms earlier; neighbours that are closer than that meet in the middle. WeNet counts a frame from
    its first feature, 40 ms too early, and rounds the middle down to whole frames, so that words
    may overlap.
    """
    spikes = [clock.at(frame + 1) for frame in frames]
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
    """A hypothesis with what the last pass that saw it says of it."""

    hypothesis: PrefixHypothesis
    score: float
    token_confidences: Sequence[float]


def first_pass_scores(hypothesis: PrefixHypothesis) -> Scored:
    """The hypothesis as CTC sees it: confidences are posteriors at the emission frames."""
    confidences = [math.exp(value) for value in hypothesis.token_log_probs]
    return Scored(hypothesis, hypothesis.score, confidences)


def alternative(
    scored: Scored, tokenizer: Tokenizer, clock: SegmentClock, boosts: CompiledBoosts
) -> Alternative:
    """Words, each from its first token's start to its last token's end.

    A word's confidence is the geometric mean over its tokens, an utterance's the mean over its
    words.
    """
    tokens = list(scored.hypothesis.tokens)
    times = token_times(scored.hypothesis.frames, clock)
    boosted = boosts.covered(tokens)
    words = tuple(
        Word(
            text=text,
            start_s=times[first][0],
            end_s=times[stop - 1][1],
            confidence=_geometric_mean(scored.token_confidences[first:stop]),
            boosted=all(boosted[first:stop]),
        )
        for text, first, stop in tokenizer.word_spans(tokens)
    )
    confidence = sum(word.confidence for word in words) / len(words) if words else 0.0
    return Alternative(tokenizer.decode(tokens), words, confidence, scored.score)


def distinct(alternatives: Sequence[Alternative], count: int) -> tuple[Alternative, ...]:
    """The first `count` alternatives whose texts differ; tokens may differ where texts do not."""
    by_text: dict[str, Alternative] = {}
    for candidate in alternatives:
        by_text.setdefault(candidate.text, candidate)
    return tuple(by_text.values())[:count]


def stable_words(tokens: Sequence[int], stable_length: int, tokenizer: Tokenizer) -> int:
    """Words that no further token can touch: all before the last one begun in the stable prefix."""
    begun = sum(first < stable_length for _, first, _ in tokenizer.word_spans(list(tokens)))
    return max(begun - 1, 0)


def _geometric_mean(values: Sequence[float]) -> float:
    logs = [math.log(max(value, 1e-30)) for value in values]
    return min(math.exp(sum(logs) / len(logs)), 1.0)
