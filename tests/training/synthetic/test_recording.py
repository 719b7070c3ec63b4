"""What is done to an engine's sound, and which sounds are no good."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile

from earshot.training.synthetic.engines import ENGINES, Delivery
from earshot.training.synthetic.errors import BadRecording
from earshot.training.synthetic.recording import (
    PEAK,
    SAMPLE_RATE_HZ,
    check_length,
    check_sound,
    encode,
    speak,
)

TEXT = "twenty one men"


def tone(seconds: float) -> np.ndarray:
    time_s = np.arange(round(seconds * SAMPLE_RATE_HZ), dtype=np.float32) / SAMPLE_RATE_HZ
    return (0.5 * np.sin(2 * np.pi * 440 * time_s)).astype(np.float32)


def frequency_hz(samples: np.ndarray) -> float:
    spectrum = np.abs(np.fft.rfft(samples))
    return float(np.argmax(spectrum) * SAMPLE_RATE_HZ / len(samples))


@pytest.mark.usefixtures("fake_engines")
def test_speech_is_at_one_rate_and_level() -> None:
    samples = speak(ENGINES["flite"], TEXT, Delivery("slt"))
    assert samples.dtype == np.float32
    assert np.abs(samples).max() == pytest.approx(PEAK)
    assert len(samples) / SAMPLE_RATE_HZ == pytest.approx(0.065 * len(TEXT) + 0.55, rel=0.05)


@pytest.mark.usefixtures("fake_engines")
def test_pitch_changes_the_voice_and_not_the_length() -> None:
    plain, high = (speak(ENGINES["flite"], TEXT, Delivery("slt", 1.0, p)) for p in (1.0, 1.2))
    assert frequency_hz(high) == pytest.approx(1.2 * frequency_hz(plain), rel=0.02)
    assert len(high) == pytest.approx(len(plain), rel=0.05)


@pytest.mark.usefixtures("fake_engines")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("silence", "silent"),
        ("clipping", "clipped"),
        ("cut", "s for 12 letters in 3 words"),
        ("noise", "no WAV file"),
        ("failure", "flite failed"),
    ],
)
def test_a_bad_sound_is_not_taken(fault: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_FAULT", f"{fault} men")
    with pytest.raises(BadRecording, match=said):
        speak(ENGINES["flite"], TEXT, Delivery("slt", rate=1.3))


def test_sound_that_is_no_number_is_not_taken() -> None:
    with pytest.raises(BadRecording, match="not numbers"):
        check_sound(np.array([0.1, np.nan], dtype=np.float32))


def test_spelled_letters_may_take_longer_than_those_of_words() -> None:
    check_length(3.0, "w a r r e n", rate=1.0)
    with pytest.raises(BadRecording, match="6 letters in 1 words"):
        check_length(3.0, "warren", rate=1.0)
    check_length(3.0, "warren", rate=0.6)


def test_encoding_gives_the_same_bytes_and_nearly_the_same_sound() -> None:
    samples = tone(1.3)
    file = encode(samples)
    assert file == encode(samples)
    decoded, rate = soundfile.read(io.BytesIO(file), dtype="float32")
    assert (rate, len(decoded)) == (SAMPLE_RATE_HZ, len(samples))
    assert np.corrcoef(decoded, samples)[0, 1] > 0.97
    assert len(file) * 8 / 1.3 < 32_000


@pytest.mark.parametrize("seconds", [0.2, 0.33, 0.54, 0.61, 0.77, 0.93, 0.995, 1.0, 1.01])
def test_short_recordings_are_read_whole(seconds: float) -> None:
    samples = tone(seconds)
    decoded, _ = soundfile.read(io.BytesIO(encode(samples)), dtype="float32")
    assert len(decoded) == len(samples)
    middle = slice(len(samples) // 4, 3 * len(samples) // 4)
    assert np.corrcoef(decoded[middle], samples[middle])[0, 1] > 0.95


def test_what_cannot_be_read_back_is_not_taken() -> None:
    with pytest.raises(BadRecording, match="cannot be read back"):
        encode(tone(0.01))
