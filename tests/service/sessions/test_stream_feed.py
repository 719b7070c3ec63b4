import asyncio

import numpy as np

from earshot.service.sessions.stream_feed import StreamFeed
from earshot.streaming.events import Closed, Final
from earshot.streaming.requests import FINALIZE, FINISH, pushes
from earshot.streaming.stream_config import StreamConfig


def opened(engine):
    events = []
    return engine.open(StreamConfig(interim_results=False), events.append), events


def seconds(count):
    return list(pushes(np.full(count * 16000, 0.5, np.float32)))


async def test_requests_behind_a_full_backlog_wait_in_order(engine):
    stream, events = opened(engine)
    feed = StreamFeed(stream)
    engine.paused = True
    for request in (*seconds(12), FINALIZE, *seconds(1), FINISH):
        feed.ask(request)
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


async def test_stop_frees_the_stream_and_lets_the_reader_go(engine):
    stream, _ = opened(engine)
    feed = StreamFeed(stream)
    engine.paused = True
    for push in seconds(12):
        feed.ask(push)
    feed.stop()
    await feed.wait_for_room()
    assert stream.cancelled
    assert engine.streams == []
