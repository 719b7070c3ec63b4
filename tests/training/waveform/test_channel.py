"""Channels: colour and band limits."""

from __future__ import annotations

import numpy as np
import pytest

from earshot.training.waveform.channel import DELAY, channel_response

RATE_HZ = 16_000


def gain_db(response: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    spectrum = np.abs(np.fft.rfft(response, 4096))
    return np.fft.rfftfreq(4096, 1 / RATE_HZ), 20 * np.log10(np.maximum(spectrum, 1e-9))


def test_without_colour_or_limit_it_is_a_delay() -> None:
    response = channel_response(np.random.default_rng(1), 0.0, None, RATE_HZ)
    assert response.argmax() == DELAY
    assert response[DELAY] == pytest.approx(1.0)
    assert np.abs(np.delete(response, DELAY)).max() < 1e-6


def test_a_band_limit_leaves_what_lies_below() -> None:
    frequency_hz, gain = gain_db(channel_response(np.random.default_rng(1), 0.0, 3500.0, RATE_HZ))
    assert np.abs(gain[frequency_hz < 3300]).max() < 0.5
    assert gain[frequency_hz > 4200].max() < -50


def test_colour_is_random_and_smooth() -> None:
    rng = np.random.default_rng(2)
    gains = [gain_db(channel_response(rng, 4.0, None, RATE_HZ))[1] for _ in range(20)]
    assert 1.0 < np.std(gains) < 8.0
    assert np.abs(np.diff(gains, axis=1)).max() < 1.0
