"""Resampling: what a tone becomes, and how long it is."""

from __future__ import annotations

import pytest
import torch

from earshot.training.data.speed import change_speed, sped_length

RATE_HZ = 16_000


def tone(frequency_hz: float, length: int) -> torch.Tensor:
    return torch.sin(2 * torch.pi * frequency_hz / RATE_HZ * torch.arange(length))


@pytest.mark.parametrize("speed", [0.8, 0.9, 1.1, 1.25])
def test_a_tone_becomes_higher_by_the_speed(speed: float) -> None:
    sped = change_speed(tone(1000.0, RATE_HZ), speed)
    expected = tone(1000.0 * speed, sped_length(RATE_HZ, speed))
    assert sped.shape == expected.shape
    torch.testing.assert_close(sped[200:-200], expected[200:-200], rtol=0, atol=2e-3)


def test_what_no_longer_fits_the_band_is_gone() -> None:
    sped = change_speed(tone(7500.0, RATE_HZ), 1.25)
    assert sped[200:-200].abs().max() < 5e-3


def test_speed_one_changes_nothing() -> None:
    wave = torch.randn(2, 777, generator=torch.Generator().manual_seed(1))
    assert torch.equal(change_speed(wave, 1.0), wave)


@pytest.mark.parametrize(("length", "speed"), [(1, 1.1), (399, 0.9), (401, 1.1), (16_001, 0.83)])
def test_any_length_keeps_its_level(length: int, speed: float) -> None:
    sped = change_speed(torch.ones(length), speed)
    assert len(sped) == sped_length(length, speed)
    inner = sped[60:-60]
    torch.testing.assert_close(inner, torch.ones_like(inner), rtol=0, atol=1e-3)


def test_a_batch_equals_its_rows() -> None:
    waves = torch.randn(3, 1000, generator=torch.Generator().manual_seed(2))
    sped = change_speed(waves, 0.9)
    for row, wave in zip(sped, waves, strict=True):
        torch.testing.assert_close(change_speed(wave, 0.9), row)
