"""Random heads speak as often as they are asked to."""

from __future__ import annotations

import pytest
import torch

from benchmarks.transducer.speaking_heads import (
    LABELS_HZ,
    SECONDS,
    bisect,
    random_batch,
    speaking_head,
)
from benchmarks.transducer.torch_label_looping import TorchLabelLooping
from earshot.models.transducer_config import TransducerConfig

RATE_HZ = 12.5


@pytest.mark.parametrize("durations", [(), (0, 1, 2, 3, 4)], ids=["RNN-T", "TDT"])
def test_a_head_says_so_many_labels_a_second_of_speech_that_it_was_not_fitted_to(
    durations: tuple[int, ...],
) -> None:
    head = speaking_head(TransducerConfig(128, 48, 96, 96, durations=durations), RATE_HZ)
    batch = random_batch(48, 24, RATE_HZ, seed=3)
    with torch.inference_mode():
        found = TorchLabelLooping(head)(batch)
    labels_hz = sum(len(each.tokens) for each in found) / batch.audio_s
    assert labels_hz == pytest.approx(LABELS_HZ, rel=0.15)
    assert len({token for each in found for token in each.tokens}) > 60
    frames = [frame for each in found for frame in set(each.frames)]
    assert len(frames) > 0.7 * sum(len(each.tokens) for each in found), "labels come in bursts"


def test_lengths_are_spread_evenly() -> None:
    low, high = SECONDS
    batch = random_batch(2, 12, RATE_HZ, seed=3)
    assert batch.audio_s / 12 == pytest.approx(10, abs=0.1)
    assert low * RATE_HZ <= min(batch.lengths) < max(batch.lengths) <= high * RATE_HZ
    assert batch.lengths != sorted(batch.lengths)
    assert random_batch(2, 1, RATE_HZ, seed=3).lengths == [125]


def test_a_falling_rate_is_found() -> None:
    assert bisect(lambda bias: 10 - bias, 3.5, 0, 10) == pytest.approx(6.5, abs=0.1)


def test_a_rate_that_is_out_of_reach_is_told() -> None:
    with pytest.raises(RuntimeError, match=r"not 3\.5"):
        bisect(lambda bias: 1.0, 3.5, 0, 10)
