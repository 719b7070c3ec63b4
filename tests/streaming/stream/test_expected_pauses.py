"""The pause that somebody who knows the text has said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.streaming.stream.endpoint import Endpoint, EndpointDetector, FrameEvidence, LikelyEnd
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

FRAME_MS = 40.0


def detector(silence_ms: int | None = 1000) -> EndpointDetector:
    return EndpointDetector(StreamConfig(endpoint=EndpointConfig(silence_ms)), FRAME_MS, 20_000)


def observe(detector: EndpointDetector, text: str) -> Endpoint | None:
    """`.` is a silent frame, `x` a token."""
    return detector.observe(FrameEvidence([c == "." for c in text], [c == "x" for c in text]))


def test_the_segment_ends_at_the_frame_that_was_said() -> None:
    watch = detector()
    observe(watch, "x....")
    assert watch.expect(400) is None
    assert watch.due == 6
    assert observe(watch, "." * 20) == Endpoint("turn", 11, 10)


def test_it_ends_at_once_where_the_pause_has_been_long_enough() -> None:
    watch = detector()
    observe(watch, "x" + "." * 12)
    assert watch.expect(400) == Endpoint("turn", 13, 12)


def test_it_waits_no_longer_than_for_any_silence() -> None:
    watch = detector()
    observe(watch, "x....")
    assert watch.expect(9000) is None
    assert observe(watch, "." * 40) == Endpoint("silence", 26, 25)


def test_a_step_ends_where_an_end_is_likely_enough_and_again_where_the_segment_does() -> None:
    watch = detector()
    observe(watch, "x....")
    watch.expect(400, LikelyEnd(lambda pause_ms: pause_ms / 1000, eager_ms=240))
    assert (watch.due, watch.is_likely_end, watch.confidence) == (2, False, 0.16)
    observe(watch, "..")
    assert (watch.due, watch.is_likely_end, watch.confidence) == (4, True, 0.24)
    observe(watch, "x")
    assert (watch.due, watch.is_likely_end, watch.confidence) == (None, False, None)


@pytest.mark.parametrize("awaited_ms", [600, 9000])
def test_a_pause_that_is_awaited_keeps_its_length_under_another_config(awaited_ms: int) -> None:
    watch = detector()
    observe(watch, "x....")
    watch.expect(awaited_ms)
    due = watch.due
    watch.go_by(StreamConfig(endpoint=EndpointConfig(silence_ms=400)))
    assert watch.due == due
    found = observe(watch, "." * 40)
    assert found is not None
    assert found.frames == 5 + due


def test_the_next_pause_goes_by_the_new_config() -> None:
    watch = detector()
    observe(watch, "x....")
    watch.expect(600)
    watch.go_by(StreamConfig(endpoint=EndpointConfig(silence_ms=400)))
    observe(watch, "x")
    assert observe(watch, "." * 20) == Endpoint("silence", 16, 10)


def test_speech_in_a_flush_takes_back_that_an_end_was_likely() -> None:
    watch = detector()
    observe(watch, "x....")
    watch.expect(400, LikelyEnd(lambda pause_ms: 0.5, eager_ms=100))
    watch.skip([False, False])
    assert (watch.is_likely_end, watch.confidence) == (True, 0.5)
    watch.skip([False, True, False])
    assert (watch.is_likely_end, watch.confidence, watch.due) == (False, None, None)


def test_speech_takes_it_back() -> None:
    watch = detector()
    observe(watch, "x....")
    watch.expect(400)
    assert observe(watch, "..x" + "." * 12) is None
    assert watch.due is None


@pytest.mark.parametrize("text", ["", "....", "..x"])
def test_nobody_is_asked_without_a_pause_behind_speech(text: str) -> None:
    watch = detector()
    observe(watch, text)
    assert not watch.asks


def test_nobody_is_asked_twice_in_a_pause_nor_where_none_ends_anything() -> None:
    watch, never = detector(), detector(None)
    for each in (watch, never):
        observe(each, "x..")
    assert watch.asks
    assert not never.asks
    watch.expect(400)
    observe(watch, "..")
    assert not watch.asks


@given(st.integers(1, 24), st.integers(300, 2000), st.integers(1, 16))
def test_when_it_was_said_makes_no_difference(asked: int, pause_ms: int, size: int) -> None:
    """Of frames that are heard in steps of any size."""
    text, watch, found = "x" + "." * 80, detector(), None
    for start in range(0, len(text), size):
        found = found or observe(watch, text[start : start + size])
        if found is None and watch.asks and watch.blank_run >= asked:
            found = watch.expect(pause_ms)
        if found is not None:
            break
    assert found is not None
    expected = min(pause_ms / FRAME_MS, 25)
    assert found.blank_run >= min(expected, asked)
    assert found.blank_run <= max(expected + 1, asked + size)
