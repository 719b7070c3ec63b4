"""Noise: how loud, of which colour, and from where."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from earshot.training.waveform.clips import Clips
from earshot.training.waveform.noise import (
    active_power,
    add_noise,
    babble,
    coloured_noise,
    synthetic_noises,
)

RATE_HZ = 16_000


def clips_of(*recordings: list[int]) -> Clips:
    ends = np.cumsum([0, *map(len, recordings)]).tolist()
    bank = torch.tensor([sample for recording in recordings for sample in recording])
    places = [(0, start, stop) for start, stop in pairwise(ends)]
    return Clips([bank.to(torch.int16)], places)


def test_pauses_do_not_count_as_speech() -> None:
    speech = torch.full((1, 4000), 100.0)
    paused = torch.cat((speech, torch.zeros(1, 8000)), dim=1)
    torch.testing.assert_close(active_power(paused), active_power(speech))


def test_silence_has_a_power_above_nothing() -> None:
    assert active_power(torch.zeros(1, 800)).item() > 0


def test_noise_is_as_far_below_speech_as_asked() -> None:
    waves = torch.full((2, 4000), 100.0)
    noises = torch.randn(2, 4000, generator=torch.Generator().manual_seed(1)) * 7
    added = add_noise(waves, noises, [10.0, 30.0]) - waves
    assert added.square().mean(dim=1).tolist() == pytest.approx([1000.0, 10.0], rel=1e-3)


def test_noise_that_is_silent_adds_little() -> None:
    waves = torch.full((1, 800), 100.0)
    assert torch.equal(add_noise(waves, torch.zeros(1, 800), [0.0]), waves)


@pytest.mark.parametrize("slope_db", [0.0, -6.0, 3.0])
def test_a_colour_is_a_slope(slope_db: float) -> None:
    noise = coloured_noise(np.random.default_rng(3), 1 << 17, slope_db)
    power = np.abs(np.fft.rfft(noise.astype(np.float64))) ** 2
    octaves = [power[1 << n : 2 << n].mean() for n in range(10, 15)]
    np.testing.assert_allclose(np.diff(10 * np.log10(octaves)), slope_db, atol=1.0)


def test_the_first_synthetic_noise_is_white() -> None:
    noises = synthetic_noises(2, 1, RATE_HZ, torch.device("cpu"))
    white = noises[0].numpy()
    assert len(noises) == 2
    assert abs(np.corrcoef(white[1:], white[:-1])[0, 1]) < 0.02


def test_a_stretch_goes_round_and_round() -> None:
    clips = clips_of([1, 2], [3, 4, 5])
    assert clips.stretch(1, 4, 5).tolist() == [4, 5, 3, 4, 5]
    assert clips[0].tolist() == [1, 2]


def test_nobody_in_babble_is_louder_than_the_others() -> None:
    clips = clips_of([100, -100] * 400, [1, -1, 1, 1] * 200)
    heard = babble(np.random.default_rng(4), clips, 4000)
    assert heard.shape == (4000,)
    assert heard.abs().max() <= 6
