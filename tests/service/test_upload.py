"""How slowly a body may come."""

import pytest

from service.upload import LEAST_BYTES_PER_S, trickles


@pytest.mark.parametrize(
    ("count", "elapsed_s", "expected"),
    [
        (1, 29.0, False),  # it has its time to stall
        (1, 31.0, True),
        (LEAST_BYTES_PER_S * 100, 120.0, False),
        (LEAST_BYTES_PER_S * 80, 120.0, True),
    ],
)
def test_a_body_that_trickles_is_told_from_one_that_is_slow(count, elapsed_s, expected):
    assert trickles(count, elapsed_s, timeout_s=30.0) == expected
