"""What a program gives to be transcribed, as a source of audio at the model's rate."""

import io
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.service.errors import UndecodableAudio
from earshot.service.library.given_audio import opened

RATE = 16_000
TONE = np.sin(np.arange(2 * RATE) / 20).astype(np.float32)
PCM = (TONE * 32767).astype(np.int16)


def heard(audio, rate_hz: int | None = None) -> np.ndarray:
    with opened(audio, rate_hz, RATE) as source:
        assert source.duration_s == 2.0
        return np.concatenate(list(source.blocks()))


@pytest.fixture
def wav(tmp_path: Path) -> Path:
    path = tmp_path / "tone.wav"
    soundfile.write(path, TONE, RATE, "FLOAT")
    return path


@pytest.mark.parametrize(
    "given",
    [
        lambda path: path,
        str,
        lambda path: path.read_bytes(),
        lambda path: bytearray(path.read_bytes()),
        lambda path: io.BytesIO(path.read_bytes()),
    ],
    ids=["path", "name", "bytes", "bytearray", "file in memory"],
)
def test_a_file_is_heard_however_it_is_given(wav, given):
    np.testing.assert_allclose(heard(given(wav)), TONE, atol=1e-6)


@pytest.mark.parametrize("given", [TONE, TONE.tolist(), PCM], ids=["floats", "list", "int16"])
def test_samples_are_heard_at_their_rate(given):
    np.testing.assert_allclose(heard(given, RATE), TONE, atol=1e-4)
    assert len(heard(np.repeat(given, 2), 2 * RATE)) == len(TONE)


def test_an_open_file_is_heard(wav):
    with wav.open("rb") as file:
        np.testing.assert_allclose(heard(file), TONE, atol=1e-6)


def test_an_open_file_is_read_from_where_it_stands(wav):
    file = io.BytesIO(b"before" + wav.read_bytes())
    file.seek(len(b"before"))
    assert len(heard(file)) == len(TONE)


@pytest.mark.parametrize(
    ("given", "rate_hz", "said"),
    [
        (TONE, None, "samples need sample_rate_hz"),
        (TONE, 0, "a sample rate of 0 Hz"),
        (TONE.reshape(-1, 2), RATE, r"the shape \(16000, 2\)"),
        (None, RATE, "NoneType"),
        ([TONE, TONE[:9]], RATE, "no array of samples"),
        (PCM.tobytes(), RATE, "sample_rate_hz is of samples, a file says its own"),
        (b"", None, "the audio is empty"),
        (b"{}", None, "of no audio format we know"),
        (io.StringIO("RIFF"), None, "open for text"),
        ("nowhere.wav", None, "^nowhere.wav: cannot be read: No such file"),
    ],
)
def test_what_is_no_audio_is_refused_with_the_reason(given, rate_hz, said):
    with pytest.raises(UndecodableAudio, match=said), opened(given, rate_hz, RATE):
        pass


def test_a_path_is_named_where_its_audio_ends_too_soon(tmp_path):
    path = tmp_path / "nothing.wav"
    soundfile.write(path, TONE[:0], RATE)
    with (
        pytest.raises(UndecodableAudio, match=r"nothing\.wav: the WAV"),
        opened(path, None, RATE) as source,
    ):
        list(source.blocks())
