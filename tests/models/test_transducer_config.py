"""A transducer's configuration: sizes, and durations that lead somewhere."""

from dataclasses import replace
from typing import Any

import pytest

from earshot.models.errors import ConfigError
from earshot.models.transducer_config import TransducerConfig

CONFIG = TransducerConfig(vocab_size=5, encoder_size=6, predictor_size=4, joint_size=3)


def test_the_blank_comes_behind_the_labels() -> None:
    assert CONFIG.blank_id == 5
    assert CONFIG.num_outputs == 6


def test_durations_are_outputs_too() -> None:
    assert replace(CONFIG, durations=(0, 1, 2)).num_outputs == 9


@pytest.mark.parametrize(
    "change",
    [
        {"vocab_size": 0},
        {"predictor_layers": 0},
        {"joint_size": 10**9},
        {"activation": "gelu"},
        {"max_symbols": 0},
        {"durations": (0,)},
        {"durations": (0, 1, 1)},
        {"durations": (-1, 1)},
        {"durations": (0, 10**6)},
        {"durations": (0, 1.5)},
    ],
)
def test_what_cannot_be_built_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        replace(CONFIG, **change)
