"""SRT and WebVTT from words with times."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from earshot.service.word_spans import word_spans
from earshot.streaming.events import Alternative, Final, Word

MAX_CUE_CHARS = 84  # two lines of 42, the usual limit of broadcasters
MAX_CUE_S = 7.0
MAX_GAP_S = 1.0
MIN_CUE_S = 0.5


@dataclass(frozen=True)
class Cue:
    """One subtitle."""

    start_s: float
    end_s: float
    text: str


def srt(*channels: Iterable[Final]) -> str:
    """Write SubRip: numbered cues, a comma before the milliseconds."""
    return "\n".join(
        f"{number}\n{_clock(cue.start_s, ',')} --> {_clock(cue.end_s, ',')}\n{cue.text}\n"
        for number, cue in enumerate(cues(*channels), start=1)
    )


def vtt(*channels: Iterable[Final]) -> str:
    """Write WebVTT, whose text may not hold markup or the arrow of a timing line."""
    blocks = (
        f"{_clock(cue.start_s, '.')} --> {_clock(cue.end_s, '.')}\n{_escape(cue.text)}\n"
        for cue in cues(*channels)
    )
    return "\n".join(["WEBVTT\n", *blocks])


def cues(*channels: Iterable[Final]) -> list[Cue]:
    """Cut finals into cues at pauses and at the limits of length; none overlaps the next.

    Of several channels each cue says which, and those of two that speak at once overlap.
    """
    if len(channels) == 1:
        return _cues_of_one(channels[0])
    made = [
        replace(cue, text=f"[channel {number}] {cue.text}")
        for number, finals in enumerate(channels)
        for cue in _cues_of_one(finals)
    ]
    return sorted(made, key=lambda cue: cue.start_s)


def _cues_of_one(finals: Iterable[Final]) -> list[Cue]:
    made = [cue for final in finals for cue in _cues_of(final.alternatives[0])]
    next_starts = [*(cue.start_s for cue in made[1:]), float("inf")]
    return [
        Cue(cue.start_s, min(max(cue.end_s, cue.start_s + MIN_CUE_S), next_start_s), cue.text)
        for cue, next_start_s in zip(made, next_starts, strict=False)
    ]


def _cues_of(best: Alternative) -> Iterator[Cue]:
    spans = word_spans(best)
    for first, last in _groups(best.words, spans):
        text = best.text[spans[first][0] : spans[last][1]]
        yield Cue(best.words[first].start_s, best.words[last].end_s, text)


def _groups(words: tuple[Word, ...], spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first = 0
    for index in range(1, len(words)):
        too_long = spans[index][1] - spans[first][0] > MAX_CUE_CHARS
        too_slow = words[index].end_s - words[first].start_s > MAX_CUE_S
        pause = words[index].start_s - words[index - 1].end_s > MAX_GAP_S
        if too_long or too_slow or pause:
            yield first, index - 1
            first = index
    if words:
        yield first, len(words) - 1


def _clock(time_s: float, point: str) -> str:
    total_ms = round(time_s * 1000)
    minutes, milliseconds = divmod(total_ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds, milliseconds = divmod(milliseconds, 1000)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}{point}{milliseconds:03d}"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
