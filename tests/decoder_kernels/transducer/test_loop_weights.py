"""A head's weights: what does not fit together is refused before C++ reads it."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.transducer.loop_weights import Linear, LoopWeights

LABELS, SIZE, HIDDEN, JOINT = 4, 6, 5, 7


def layer(outputs: int, inputs: int) -> Linear:
    return torch.zeros(outputs, inputs), torch.zeros(outputs)


def lstm(inputs: int = HIDDEN) -> tuple[Linear, Linear]:
    return layer(4 * HIDDEN, inputs), layer(4 * HIDDEN, HIDDEN)


GOOD = LoopWeights(
    encoder=layer(JOINT, SIZE),
    predictor=layer(JOINT, HIDDEN),
    labels=layer(LABELS + 1, JOINT),
    durations=layer(2, JOINT),
    embedding=torch.zeros(LABELS + 1, HIDDEN),
    lstm=[lstm(), lstm()],
    activation="relu",
    duration_frames=(0, 1),
    max_symbols=3,
)


def test_sizes_are_those_of_the_layers() -> None:
    assert (GOOD.encoder_size, GOOD.vocab_size) == (SIZE, LABELS)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"encoder": layer(JOINT + 1, SIZE)},
        {"predictor": layer(JOINT + 1, HIDDEN)},
        {"labels": layer(LABELS + 2, JOINT)},
        {"labels": (torch.zeros(LABELS + 1, JOINT), torch.zeros(LABELS))},
        {"durations": layer(3, JOINT)},
        {"embedding": torch.zeros(LABELS, HIDDEN)},
        {"embedding": torch.zeros(LABELS + 1, HIDDEN + 1)},
        {"lstm": []},
        {"lstm": [lstm(), lstm(HIDDEN + 1)]},
        {"lstm": [(layer(4 * HIDDEN, HIDDEN), layer(4 * HIDDEN, HIDDEN + 1))]},
        {"max_symbols": 0},
        {"duration_frames": (0, -1)},
        {"labels": layer(1, JOINT), "embedding": torch.zeros(1, HIDDEN)},
    ],
)
def test_what_is_not_of_one_head_is_refused(spoilt: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        replace(GOOD, **spoilt)


def test_embeddings_may_be_of_another_size_than_the_layers() -> None:
    first, second = lstm(HIDDEN + 4), lstm()
    wide = replace(GOOD, embedding=torch.zeros(LABELS + 1, HIDDEN + 4), lstm=[first, second])
    assert wide.native("portable").memory_size == GOOD.native("portable").memory_size


def test_a_processor_that_this_one_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot run another"):
        GOOD.native("another")


def test_weights_of_other_types_are_converted() -> None:
    halves = ("encoder", "predictor", "labels", "durations")
    halved = replace(GOOD, **{name: _half(getattr(GOOD, name)) for name in halves})
    assert halved.native("portable").memory_size == GOOD.native("portable").memory_size


def _half(linear: Linear) -> tuple[Tensor, Tensor]:
    return linear[0].half(), linear[1].half()
