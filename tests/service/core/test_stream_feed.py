import asyncio

import numpy as np

from earshot.service.core.actions import FinalizeStream, FinishStream, PushAudio
from earshot.service.core.stream_feed import StreamFeed
from earshot.streaming.events import Closed, Final
from earshot.streaming.stream_config import StreamConfig


def opened(engine):
    events = []
    return engine.open(StreamConfig(interim_results=False), events.append), events


def seconds(count):
    return PushAudio(np.full(count * 16000, 0.5, np.float32))


async def test_actions_behind_a_full_backlog_wait_in_order(engine):
    stream, events = opened(engine)
    feed = StreamFeed(stream)
    engine.paused = True
    for action in (seconds(12), FinalizeStream(), seconds(1), FinishStream()):
        feed.do(action)
    waiting = asyncio.create_task(feed.wait_for_room())
    await asyncio.wait([waiting], timeout=0)
    assert not waiting.done()
    assert events == []
    engine.resume()
    feed.resume()
    await waiting
    finals = [event for event in events if isinstance(event, Final)]
    assert [final.duration_s for final in finals] == [12.0, 1.0]
    assert isinstance(events[-1], Closed)


async def test_a_message_longer_than_the_backlog_gets_through(engine):
    stream, _ = opened(engine)
    StreamFeed(stream).do(seconds(3 * int(engine.max_backlog_s)))
    assert stream.decoded_s == 3 * engine.max_backlog_s


async def test_stop_frees_the_stream_and_lets_the_reader_go(engine):
    stream, _ = opened(engine)
    feed = StreamFeed(stream)
    engine.paused = True
    feed.do(seconds(12))
    feed.stop()
    await feed.wait_for_room()
    assert stream.cancelled
    assert engine.streams == []
