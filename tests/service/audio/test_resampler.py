import numpy as np
import pytest
import soxr

from earshot.service.audio.resampler import Resampler


@pytest.mark.parametrize("rate", [4000, 8000, 11025, 22050, 44100, 48000, 96000, 192000])
def test_blocks_of_any_size_equal_the_whole_file(rate):
    rng = np.random.default_rng(rate)
    audio = rng.uniform(-0.5, 0.5, rate).astype(np.float32)
    resampler, at, pieces = Resampler(rate, 16000), 0, []
    while at < len(audio):
        size = int(rng.integers(1, rate // 8))
        pieces.append(resampler.resample(audio[at : at + size]))
        at += size
    pieces.append(resampler.resample(audio[:0], last=True))
    # The stream and the one-shot call of soxr differ in the last bit of float32.
    np.testing.assert_allclose(np.concatenate(pieces), soxr.resample(audio, rate, 16000), atol=1e-6)


def test_a_tone_keeps_its_frequency():
    tone = np.sin(2 * np.pi * 440 * np.arange(48000) / 48000).astype(np.float32) * 0.5
    resampled = Resampler(48000, 16000).resample(tone)
    spectrum = np.abs(np.fft.rfft(resampled[:8000]))
    assert np.argmax(spectrum) * 2 == 440


def test_overshoot_is_clipped():
    square = np.sign(np.sin(np.arange(48000) / 7)).astype(np.float32)
    assert np.abs(Resampler(48000, 16000).resample(square)).max() == 1.0


def test_16_khz_passes_untouched():
    audio = np.random.default_rng(0).uniform(-1, 1, 100).astype(np.float32)
    np.testing.assert_array_equal(Resampler(16000, 16000).resample(audio), audio)
