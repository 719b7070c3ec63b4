"""Blocks as programs have them, made into what an engine takes."""

import numpy as np
import pytest

from earshot.service.errors import UndecodableAudio
from earshot.service.library.sample_blocks import SampleBlocks
from earshot.streaming.requests import PUSH_SAMPLES

RATE = 16_000
TONE = np.sin(np.arange(2 * RATE) / 20)


def heard(blocks, rate_hz: int = RATE) -> np.ndarray:
    return np.concatenate([push.samples for push in SampleBlocks(blocks, rate_hz, RATE).pushes()])


def int16(samples: np.ndarray) -> np.ndarray:
    return (samples * 32767).astype("<i2")


@pytest.mark.parametrize(
    "blocks",
    [
        [TONE.astype(np.float32)],
        np.split(TONE, 10),
        [TONE[:5].tolist(), TONE[5:]],
        [int16(TONE)],
        [int16(TONE)[:0], int16(TONE)],
        [int16(TONE).tobytes()[:3], int16(TONE).tobytes()[3:]],
        [memoryview(int16(TONE).tobytes())],
        [memoryview(TONE.astype(np.float32))],
    ],
    ids=["float32", "float64", "list", "int16", "empty", "bytes", "view", "view of floats"],
)
def test_all_kinds_of_blocks_are_the_same_audio(blocks):
    samples = heard(blocks)
    assert samples.dtype == np.float32
    np.testing.assert_allclose(samples, TONE, atol=1e-4)


def test_long_blocks_are_cut_to_what_one_push_takes():
    sizes = [len(push.samples) for push in SampleBlocks([TONE], RATE, RATE).pushes()]
    assert sum(sizes) == len(TONE)
    assert max(sizes) == PUSH_SAMPLES


def test_other_rates_are_resampled_to_the_last_sample():
    assert len(heard(np.split(TONE, 10), 2 * RATE)) == len(TONE) / 2


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([TONE.reshape(-1, 2)], r"the shape \(16000, 2\)"),
        (TONE, r"a single array is \[samples\]"),
        ("talk.wav", "a block of type str is not samples"),
        ([None], "a block of type NoneType is not samples"),
        ([[0.5, [1.0]]], "a block of type list is no array of samples"),
        ([[1, 2]], "samples are int64"),
        ([1000 * TONE], "far outside"),
        ([np.full(9, np.nan)], "NaN"),
    ],
)
def test_what_is_no_audio_is_refused_with_the_reason(blocks, said):
    with pytest.raises(UndecodableAudio, match=said):
        heard(blocks)


@pytest.mark.parametrize("rate_hz", [0, 3999, 200_000])
def test_a_rate_that_no_audio_has_is_refused_before_a_block_is_taken(rate_hz):
    with pytest.raises(UndecodableAudio, match=f"{rate_hz} Hz"):
        SampleBlocks(iter([]), rate_hz, RATE)


@pytest.mark.parametrize("blocks", [None, 5])
def test_what_is_no_iterable_of_blocks_is_refused_at_once(blocks):
    with pytest.raises(UndecodableAudio, match=f"and {type(blocks).__name__} is none"):
        SampleBlocks(blocks, RATE, RATE)
