"""Streams of NeMo's models as their callers see them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat

import pytest
from random_nemo import babble, random_nemo

from earshot.streaming.engine.engine import Engine
from earshot.streaming.events import (
    Closed,
    Configured,
    Final,
    NotConfigured,
    Partial,
    RoomAvailable,
)
from earshot.streaming.requests import Configure
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

CHUNKS = "chunks, rnnt"
QUICK = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
NEVER = EndpointConfig(silence_ms=None, no_speech_ms=20_000)
RATE_HZ = 16_000
MAX_BACKLOG_S = 30


@pytest.fixture
def make(make_engine) -> Callable[..., Engine]:
    return lambda kind, observer=None, **options: make_engine(
        random_nemo(kind), observer, max_streams=4, **options
    )


def test_times_do_not_depend_on_when_samples_came(make, sounds) -> None:
    engine, clip = make(CHUNKS), babble(3.0, 3)
    found = []
    for first in (len(clip), 24 * 160 + 200):  # a chunk ends 67 ms behind what it needs
        listener = sounds.Listener()
        stream = engine.open(StreamConfig(chunk_ms=320, endpoint=QUICK), listener)
        stream.push(clip[:first])
        listener.wait_for(lambda event: isinstance(event, Partial))
        stream.push(clip[first:])
        stream.finish()
        listener.wait_for_last()
        found.append(listener.of(Partial)[0])
    assert found[0].duration_s == found[1].duration_s == pytest.approx(0.32)
    assert found[0].alternatives[0].words == found[1].alternatives[0].words


@pytest.mark.parametrize("kind", ["chunks, tdt and ctc", "windows, rnnt and ctc"])
def test_a_finalize_in_the_midst_is_a_new_beginning(make, sounds, kind) -> None:
    engine = make(kind)
    config = StreamConfig(endpoint=NEVER)
    halves = babble(2.53, 3), babble(3.3, 9)
    listener = sounds.Listener()
    stream = engine.open(config, listener)
    stream.push(halves[0])
    stream.finalize()
    stream.push(halves[1])
    stream.finish()
    listener.wait_for_last()
    alone = [sounds.transcribe(engine, half, config, priority=StreamPriority.LIVE)
             for half in halves]  # fmt: skip
    assert [final.cause for final in listener.finals] == ["finalize", "end"]
    assert [final.alternatives[0].text for final in listener.finals] == [
        each.text for each in alone
    ]
    [_, second] = listener.finals
    assert second.start_s == pytest.approx(len(halves[0]) / RATE_HZ)
    moved = [word.start_s + second.start_s for word in alone[1].finals[0].alternatives[0].words]
    found = [word.start_s for word in second.alternatives[0].words]
    assert found == pytest.approx(moved)


def test_a_chunk_that_is_configured_counts_from_the_next_segment_on(make, sounds) -> None:
    sizes: list[tuple[int, float]] = []
    active: list[ActiveStream] = []
    engine = make(CHUNKS, lambda _: sizes.append(seen(active[0])))
    listener = sounds.Listener()
    stream = engine.open(StreamConfig(chunk_ms=320, endpoint=NEVER), listener)
    active += engine._registry.streams
    stream.push(babble(1.0, 3))
    listener.wait_for(lambda event: isinstance(event, Partial))
    stream.ask(Configure((), chunk_ms=80))
    listener.wait_for(lambda event: isinstance(event, Configured))
    assert active[0].chunking.chunk_ms == 320
    stream.push(babble(1.0, 4))
    stream.finalize()
    listener.wait_for(lambda event: isinstance(event, Final))
    assert {chunk_ms for _, chunk_ms in sizes[:-1]} == {320}
    stream.push(babble(1.0, 5))
    stream.finish()
    listener.wait_for_last()
    assert active[0].chunking.chunk_ms == 80
    alone = sounds.transcribe(engine, babble(1.0, 5), StreamConfig(chunk_ms=80, endpoint=NEVER))
    assert listener.finals[-1].alternatives[0].text == alone.text


def seen(stream: ActiveStream) -> tuple[int, float]:
    return stream.segment.frames, stream.chunking.chunk_ms


def test_a_chunk_that_was_not_trained_is_not_configured(make, sounds) -> None:
    listener = sounds.Listener()
    stream = make(CHUNKS).open(StreamConfig(), listener)
    stream.ask(Configure((), chunk_ms=100))
    refused = listener.wait_for(lambda event: isinstance(event, NotConfigured))
    assert refused.reason == "chunk is 100, there are: 80, 160, 320"


@pytest.mark.parametrize("priority", list(StreamPriority))
@pytest.mark.parametrize(("kind", "seconds"), [(CHUNKS, 20), ("windows, ctc", 90)])
def test_what_is_kept_of_a_stream_stops_growing(make, sounds, kind, seconds, priority) -> None:
    kept: list[tuple[int, int, int]] = []
    active: list[ActiveStream] = []
    engine = make(kind, lambda _: kept.append(kept_of(active[0])), max_backlog_s=MAX_BACKLOG_S)
    listener = sounds.Listener()
    config = StreamConfig(interim_results=False, endpoint=QUICK)
    stream = engine.open(config, listener, priority)
    active += engine._registry.streams
    sounds.push_all(stream, babble(seconds, 2), None, listener)
    stream.finish()
    listener.wait_for_last()
    features, frames, samples = map(max, zip(*kept, strict=True))
    chunking, settings = active[0].chunking, active[0].settings
    assert features <= settings.kept_frames
    assert frames <= 2000 / chunking.frame_ms
    assert samples <= MAX_BACKLOG_S * RATE_HZ + chunking.window * 160 + RATE_HZ
    half = len(kept) // 2
    assert max(kept[half:])[0] <= max(kept[:half])[0]


def kept_of(stream: ActiveStream) -> tuple[int, int, int]:
    """Feature frames, encoder frames, samples."""
    samples = stream.track._samples
    return stream.track.kept, stream.segment.frames, samples.end - samples._start


@pytest.mark.parametrize("size", [8000, 238_000])
@pytest.mark.parametrize("kind", ["windows, ctc", "windows, rnnt and ctc"])
def test_a_file_whose_windows_are_longer_than_the_backlog_is_heard(
    make, sounds, kind, size
) -> None:
    engine, listener = make(kind, max_backlog_s=10), sounds.Listener()
    stream = engine.open(StreamConfig(endpoint=QUICK), listener, StreamPriority.FILE)
    sounds.push_all(stream, babble(65.0, 2), repeat(size), listener)
    stream.finish()
    assert listener.wait_for_last() == Closed(65.0)
    assert listener.of(RoomAvailable)


LANGUAGES = ("en-US", "de-DE", "zh-CN", None)


def test_every_stream_hears_its_own_language(make, sounds, together) -> None:
    engine, clip = make("chunks, rnnt with prompt"), babble(4.0, 3)
    configs = [StreamConfig(language=each, endpoint=NEVER) for each in LANGUAGES]
    alone = [sounds.transcribe(engine, clip, each).text for each in configs]
    assert len(set(alone)) == len(alone)
    assert [each.text for each in together(engine, [clip] * 4, configs)] == alone
