import pytest

from earshot.streaming.stream.endpoint import (
    Endpoint,
    EndpointDetector,
    FrameEvidence,
    pause_boundary,
)
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

FRAME_MS = 40.0
CONFIG = EndpointConfig(silence_ms=400, no_speech_ms=2000, max_utterance_ms=8000)


def detector(endpoint=CONFIG, utterance_end_ms=None, limit_ms=20000) -> EndpointDetector:
    config = StreamConfig(endpoint=endpoint, utterance_end_ms=utterance_end_ms)
    return EndpointDetector(config, FRAME_MS, limit_ms)


def observe(detector, text) -> Endpoint | None:
    """`.` is a silent frame, `x` a token, `?` neither (blank, but not surely)."""
    silent, spoken = [c == "." for c in text], [c == "x" for c in text]
    return detector.observe(FrameEvidence(silent, spoken))


def test_silence_after_speech_ends_the_segment_at_the_frame_where_it_is_long_enough():
    assert observe(detector(), "..x" + "." * 20) == Endpoint("silence", 13, 10)


def test_silence_without_speech_takes_longer():
    assert observe(detector(), "." * 60) == Endpoint("no_speech", 50, 50)


def test_length_ends_the_segment_in_the_midst_of_speech():
    assert observe(detector(), "x.x?" * 100) == Endpoint("max_utterance", 200, 0)


def test_chunks_make_no_difference():
    text = "...x..x" + "." * 9 + "xx" + "." * 30
    for size in (1, 4, 16):
        watch, found = detector(), []
        for start in range(0, len(text), size):
            if (end := observe(watch, text[start : start + size])) is not None:
                found.append(end)
                break
        assert found == [Endpoint("silence", 28, 10)]


@pytest.mark.parametrize("breaker", ["x", "?"])
def test_any_doubt_begins_the_silence_anew(breaker):
    assert observe(detector(), "x" + "." * 9 + breaker + "." * 9) is None


def test_a_stream_without_endpoints_ends_only_by_length():
    never = EndpointConfig(silence_ms=None, no_speech_ms=60000, max_utterance_ms=8000)
    assert observe(detector(never), "x" + "." * 300) == Endpoint("max_utterance", 200, 199)


def test_utterance_end_ends_the_segment_too_so_that_its_words_are_final():
    never = EndpointConfig(silence_ms=None)
    assert observe(detector(never, utterance_end_ms=1000), "x" + "." * 50).rule == "silence"
    slow = EndpointConfig(silence_ms=3000)
    assert observe(detector(slow, utterance_end_ms=1000), "x" + "." * 50).frames == 26


def test_the_engines_limit_holds_over_the_streams():
    assert observe(detector(limit_ms=4000), "x?" * 100) == Endpoint("max_utterance", 100, 0)


def test_a_flush_is_walked_over_without_rules():
    watch = detector()
    watch.skip([False, True, False])
    assert (watch.frames, watch.speech_frame) == (3, 1)


@pytest.mark.parametrize(("run", "back"), [(8, 4), (9, 4), (20, 10), (21, 10), (100, 10)])
def test_the_seam_lies_in_the_middle_of_a_pause_but_not_far_back(run, back):
    assert pause_boundary(Endpoint("silence", 200, run), FRAME_MS) == 200 - back


def observe_turn(detector, text, ended_at) -> Endpoint | None:
    """As `observe`, of a decoder that says at one frame that the turn is over."""
    silent, spoken = [c == "." for c in text], [c == "x" for c in text]
    ended = [place == ended_at for place in range(len(text))]
    return detector.observe(FrameEvidence(silent, spoken, ended))


def test_a_decoder_that_knows_the_end_of_a_turn_ends_the_segment_there():
    assert observe_turn(detector(), "..x..x", 4) == Endpoint("turn_end", 5, 2)


def test_no_turn_ends_before_it_began():
    assert observe_turn(detector(), "....x.", 2) is None


def test_no_turn_ends_where_no_pause_would():
    never = EndpointConfig(silence_ms=None)
    assert observe_turn(detector(never), "..x..x", 4) is None


def reconsider(detector, text) -> None:
    silent, spoken = [c == "." for c in text], [c == "x" for c in text]
    detector.reconsider(FrameEvidence(silent, spoken))


def test_speech_that_was_taken_for_silence_counts_from_where_it_was():
    watch = detector()
    observe(watch, "." * 12)
    reconsider(watch, "..x" + "." * 9)
    assert watch.speech_frame == 2
    assert observe(watch, "...") == Endpoint("silence", 13, 10)


def test_speech_that_has_begun_stays_so_whatever_is_thought_of_it_later():
    watch = detector()
    observe(watch, "..x..")
    reconsider(watch, ".....")
    assert (watch.speech_frame, watch.blank_run) == (2, 5)


def test_other_evidence_moves_no_frame():
    watch = detector()
    observe(watch, "x...")
    reconsider(watch, "x..?")
    assert (watch.frames, watch.blank_run) == (4, 0)
