import numpy as np
import pytest

from earshot.service.audio.pcm import PcmDecoder, PcmFormat
from earshot.service.errors import UndecodableAudio


def test_linear16_spans_minus_one_to_one():
    decoder = PcmDecoder(PcmFormat("linear16", 16000))
    samples = decoder.decode(np.array([-32768, 0, 16384], "<i2").tobytes())
    assert samples.tolist() == [-1.0, 0.0, 0.5]
    assert samples.dtype == np.float32


@pytest.mark.parametrize("encoding", ["linear16", "linear32"])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_bytes_cut_anywhere_give_the_same_samples(encoding, channels):
    pcm = PcmFormat(encoding, 16000, channels)
    values = np.random.default_rng(1).uniform(-1, 1, 60 * channels)
    data = (
        (values * 32767).astype("<i2") if encoding == "linear16" else values.astype("<f4")
    ).tobytes()
    whole = PcmDecoder(pcm).decode(data)
    for cut in (1, 3, 7):
        decoder = PcmDecoder(pcm)
        pieces = [decoder.decode(data[at : at + cut]) for at in range(0, len(data), cut)]
        np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_channels_are_averaged():
    decoder = PcmDecoder(PcmFormat("linear32", 16000, 2))
    assert decoder.decode(np.array([0.5, -0.5, 1.0, 0.0], "<f4").tobytes()).tolist() == [0.0, 0.5]


def test_channels_lie_side_by_side_when_they_are_kept_apart():
    decoder = PcmDecoder(PcmFormat("linear32", 16000, 2))
    frames = np.array([0.5, -0.5, 1.0, 0.0], "<f4").tobytes()
    assert decoder.decode_apart(frames[:7]).shape == (0, 2)
    assert decoder.decode_apart(frames[7:]).tolist() == [[0.5, -0.5], [1.0, 0.0]]


def test_floats_that_are_too_hot_are_clipped():
    decoder = PcmDecoder(PcmFormat("linear32", 16000))
    assert decoder.decode(np.array([1.5, -2.0, 0.5], "<f4").tobytes()).tolist() == [1.0, -1.0, 0.5]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 20000.0])
def test_floats_that_are_no_audio_are_refused(value):
    decoder = PcmDecoder(PcmFormat("linear32", 16000))
    with pytest.raises(UndecodableAudio, match="linear32"):
        decoder.decode(np.array([0.0, value], "<f4").tobytes())
