"""What an engine keeps of a model's weights, counted."""

from __future__ import annotations

import pytest
from random_nemo import random_nemo

from benchmarks.nemo_streams.kept_weights import BYTES, kept_bytes

KIND = "chunks, rnnt"
PROJECTION, DISTANCES = 24 * 24, 8 + 4 + 4 - 1
"""Of a layer's positions, and how many of them are kept: 8 frames before chunks of 4."""
BINS = 4
"""Of 20, after three stages of the stem."""


def test_in_float32_all_is_kept_but_for_positions_that_are_projected_once() -> None:
    network = random_nemo(KIND).model
    numbers = sum(weights.numel() for weights in network.parameters())
    numbers += 2 * (DISTANCES * 24 - PROJECTION)
    assert kept_bytes(network, "float32") == 4 * numbers


@pytest.mark.parametrize("precision", ["bfloat16", "int8", "w8a8"])
def test_in_fewer_bits_the_encoders_linear_layers_take_fewer(precision) -> None:
    network = random_nemo(KIND).model
    feed_forward = 2 * 2 * 24 * 32
    attention, convolution = 4 * 24 * 24, 3 * 24 * 24
    stem = 2 * 6 * 6 + 24 * 6 * BINS
    packed = 2 * (feed_forward + attention + convolution) + stem
    saved = kept_bytes(network, "float32") - kept_bytes(network, precision)
    assert saved == packed * (4 - BYTES[precision])
