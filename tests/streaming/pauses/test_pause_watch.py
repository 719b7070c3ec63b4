"""Pauses by the levels of samples alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.streaming.pauses.pause_watch import PauseWatch
from earshot.streaming.samples import Samples

SHIFT = 160
QUIET = 24  # frames
EVER = 10**9


def sound(*parts: tuple[float, int], seed: int = 0) -> Samples:
    """Noise of so many dB below full scale for so many frames, part after part."""
    drawn = np.random.default_rng(seed)
    scaled = [drawn.normal(0, 10 ** (level / 20), frames * SHIFT) for level, frames in parts]
    return np.concatenate(scaled).astype(np.float32)


def watching(samples: Samples, first_sample: int = 0) -> PauseWatch:
    watch = PauseWatch(SHIFT, 10.0, first_sample)
    watch.listen(samples)
    watch.look(EVER)
    return watch


def pauses(watch: PauseWatch) -> list[int]:
    watch.look(EVER)
    found, frame = [], -1
    while (pause := watch.pause_after(frame)) is not None:
        found.append(pause)
        frame = pause
    return found


def test_a_pause_is_known_once_it_has_lasted_a_while() -> None:
    watch = watching(sound((-60, 30), (-20, 50), (-60, 100), (-20, 20), (-60, 30)))
    first, second = pauses(watch)
    assert 80 + QUIET <= first <= 80 + QUIET + 3
    assert 200 + QUIET <= second <= 200 + QUIET + 3


@pytest.mark.parametrize("level", [-90, -60, -20])
def test_nobody_pauses_who_has_not_spoken(level: float) -> None:
    assert pauses(watching(sound((level, 300)))) == []


def test_a_short_gap_is_no_pause() -> None:
    assert pauses(watching(sound((-60, 30), (-20, 50), (-60, 15), (-20, 50)))) == []


def test_what_is_loud_for_ever_is_no_pause() -> None:
    """In a noise as loud as the speech nothing is known."""
    assert pauses(watching(sound((-25, 100), (-20, 50), (-25, 200)))) == []


def test_digital_silence_is_quiet() -> None:
    silence, speech = np.zeros(60 * SHIFT, np.float32), sound((-20, 50))
    assert len(pauses(watching(np.concatenate([silence, speech, silence])))) == 1


def test_frames_are_quiet_only_as_far_as_they_are_here() -> None:
    watch = watching(sound((-60, 30), (-20, 50), (-60, 40)))
    assert watch.is_quiet(85, 120)
    assert not watch.is_quiet(85, 121)
    assert not watch.is_quiet(70, 90)


def test_what_nobody_has_looked_at_is_not_known() -> None:
    watch = PauseWatch(SHIFT, 10.0)
    watch.listen(sound((-60, 30), (-20, 50), (-60, 100)))
    watch.look(90)
    assert watch.pause_after(0) is None
    assert not watch.is_quiet(85, 100)
    watch.look(150)
    assert watch.pause_after(0) is not None


def test_another_pause_comes_no_sooner_than_it_is_said() -> None:
    samples = sound((-60, 30), (-20, 50), (-60, 100), (-20, 20), (-60, 60))
    watch = PauseWatch(SHIFT, 10.0)
    for frame in range(len(samples) // SHIFT):
        soonest, before = watch.soonest, pauses(watch)
        watch.listen(samples[frame * SHIFT : (frame + 1) * SHIFT])
        assert pauses(watch) == before or frame + 1 >= soonest


@given(st.lists(st.integers(0, 5000), max_size=40), st.integers(0, 99))
def test_packets_do_not_matter(sizes: list[int], seed: int) -> None:
    samples = sound((-50, 20), (-20, 30), (-55, 60), (-22, 30), (-50, 40), seed=seed)
    whole, pieces, start = watching(samples), PauseWatch(SHIFT, 10.0), 0
    for size in sizes:
        pieces.listen(samples[start : start + size])
        start += size
    pieces.listen(samples[start:])
    assert pauses(pieces) == pauses(whole)


@given(st.integers(0, 150), st.integers(0, 159), st.integers(0, 99))
def test_a_segment_knows_nothing_of_what_was_before(start: int, within: int, seed: int) -> None:
    """Another engine that hears the segment alone finds the same pauses."""
    samples = sound((-50, 20), (-20, 30), (-55, 60), (-22, 30), (-50, 40), seed=seed)
    watch = watching(samples)
    watch.restart(start)
    first = max(start * SHIFT - within, 0)
    alone = watching(samples[first:], first)
    alone.restart(start)
    assert pauses(alone) == pauses(watch)
