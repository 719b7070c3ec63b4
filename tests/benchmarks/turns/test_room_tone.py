"""Recordings that go on in their own room."""

import numpy as np
import pytest

from benchmarks.server.spoken_hour import RATE_HZ, Samples
from benchmarks.turns.room_tone import in_its_room

ROOM = 0.002


def recording(*parts: tuple[float, float]) -> Samples:
    """Noise by seconds and level."""
    rng = np.random.default_rng(0)
    sounds = [rng.normal(0, level, round(seconds * RATE_HZ)) for seconds, level in parts]
    return np.concatenate(sounds).astype(np.float32)


def rms(samples: Samples) -> float:
    return float(np.sqrt(np.square(samples).mean()))


def test_the_room_goes_on_as_loud_as_it_was() -> None:
    samples = recording((1.0, 0.1), (0.5, ROOM), (1.0, 0.1))
    heard = in_its_room(samples, RATE_HZ)
    assert len(heard) == len(samples) + RATE_HZ
    assert rms(heard[len(samples) :]) == pytest.approx(ROOM, rel=0.2)


def test_the_room_has_the_colour_that_it_had() -> None:
    rng = np.random.default_rng(0)
    hum = ROOM * np.convolve(rng.normal(0, 1, RATE_HZ), np.ones(16) / 4, mode="same")
    samples = np.concatenate([recording((1.0, 0.2)), hum]).astype(np.float32)
    tone = in_its_room(samples, RATE_HZ)[len(samples) :]
    low, high = np.split(np.square(np.abs(np.fft.rfft(tone)))[:8000], [1000])
    assert low.mean() > 20 * high.mean()


def test_speech_is_left_as_it_was_and_long_pauses_are_the_room() -> None:
    samples = recording((1.0, 0.1), (0.6, ROOM), (1.0, 0.1), (0.1, ROOM), (1.0, 0.1))
    changed = np.flatnonzero(in_its_room(samples, 0) != samples) / RATE_HZ
    assert changed.min() == pytest.approx(1.24, abs=0.03)
    assert changed.max() == pytest.approx(1.6, abs=0.03)


def test_digital_silence_has_a_tone_of_next_to_nothing() -> None:
    heard = in_its_room(np.zeros(RATE_HZ, np.float32), RATE_HZ)
    assert 0 < rms(heard[RATE_HZ:]) < 1e-4
