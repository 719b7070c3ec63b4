"""Until when what was told of labels holds."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from earshot.streaming.transducer.told import Told
from earshot.streaming.transducer.transcript import Transcript

FOUND = Transcript((1, 2), (0, 300), (1, 301), (-0.5, -0.25), (-9.0, -9.0))
STREAM: Any = SimpleNamespace(segment=object(), boosts=object())


def test_frames_without_a_label_change_nothing() -> None:
    later = FOUND.then(Transcript(blank_log_probs=(-0.1,)))
    assert Told.of(STREAM, FOUND, "ab").holds(STREAM, later)


@pytest.mark.parametrize(
    "other",
    [
        {"tokens": (1, 3)},
        {"frames": (0, 301)},
        {"ends": (1, 302)},
        {"token_log_probs": (-0.5, -0.5)},
    ],
)
def test_another_hypothesis_is_told_anew(other: dict[str, Any]) -> None:
    """Of the same labels too, where it has them elsewhere or is less sure."""
    assert not Told.of(STREAM, FOUND, "ab").holds(STREAM, replace(FOUND, **other))


@pytest.mark.parametrize("name", ["segment", "boosts"])
def test_another_segment_and_other_boosts_are_told_anew(name: str) -> None:
    changed: Any = SimpleNamespace(**{**vars(STREAM), name: object()})
    assert not Told.of(STREAM, FOUND, "ab").holds(changed, FOUND)
