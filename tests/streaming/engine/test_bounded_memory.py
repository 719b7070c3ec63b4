"""A stream may go on for days: what is kept of it stays the same."""

import pytest

from earshot.streaming.stream_config import EndpointConfig, StreamConfig

MINUTES = 6


@pytest.mark.parametrize("silence_ms", [400, None])
def test_what_is_kept_of_a_stream_stops_growing(make_engine, tone_model, sounds, silence_ms):
    kept: list[tuple[int, int]] = []
    active = None

    def measure(_report) -> None:
        kept.append((active.track.kept, active.segment.frames))

    engine = make_engine(
        tone_model, measure, chunk_size=16, max_backlog_s=10, max_utterance_ms=8000
    )
    endpoint = EndpointConfig(silence_ms=silence_ms, max_utterance_ms=8000)
    config = StreamConfig(mode="ctc_prefix_beam_search", endpoint=endpoint, interim_results=False)
    listener = sounds.Listener()
    stream = engine.open(config, listener)
    [active] = engine._registry.streams
    text = "一二三四五 六七八九_" * 10  # about a minute
    for _ in range(MINUTES):
        sounds.push_all(stream, sounds.speech(text), None, listener)
    stream.finish()
    listener.wait_for_last()
    assert listener.text == text.replace(" ", "").replace("_", "") * MINUTES
    settings = active.settings
    assert max(frames for frames, _ in kept) <= settings.kept_frames
    assert max(frames for _, frames in kept) <= settings.max_segment_frames
    minute = len(kept) // MINUTES
    assert max(kept[minute:]) <= max(kept[:minute])
    assert engine.stats.search.overflows == 0
