import asyncio
import json

import pytest

from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.deepgram.response.wire import Error
from earshot.service.errors import SlowReader
from earshot.service.served_model import ServedModel
from earshot.service.sessions.actions import Close, Send
from earshot.service.sessions.outbox import Outbox
from earshot.streaming.events import Final, Partial

MESSAGES = ResultMessages("id", ServedModel("m", "1", "a", "u"))


def partial(start_s):
    return Send(MESSAGES.results(Partial(start_s, 1.0, (), 0)), 0, replaceable=True)


def final(start_s):
    return Send(MESSAGES.results(Final(start_s, 1.0, (), True, False, "endpoint")), 0)


def note(text):
    return Send(Error(variant="x", description=text))


async def drained(outbox):
    items = []
    while isinstance(item := await outbox.take(), str):
        items.append(item)
    return items, item


async def test_messages_keep_their_order_and_the_close_is_last():
    outbox = Outbox(10_000)
    sent = [final(0), note("a"), final(1)]
    for each in sent:
        outbox.put(each)
    outbox.close(Close(1000))
    assert await drained(outbox) == ([each.message.to_json() for each in sent], Close(1000))


async def test_a_newer_partial_replaces_the_waiting_one():
    outbox = Outbox(10_000)
    for start in range(100):
        outbox.put(partial(start))
    outbox.close(Close(1000))
    assert (await drained(outbox))[0] == [partial(99).message.to_json()]


async def test_a_final_makes_the_waiting_partial_needless():
    outbox = Outbox(10_000)
    outbox.put(partial(0))
    outbox.put(final(0))
    outbox.close(Close(1000))
    assert (await drained(outbox))[0] == [final(0).message.to_json()]


async def test_a_notice_leaves_the_waiting_partial():
    outbox = Outbox(10_000)
    outbox.put(partial(0))
    outbox.put(note("a"))
    outbox.close(Close(1000))
    assert len((await drained(outbox))[0]) == 2


async def test_finals_are_never_dropped_but_bounded():
    outbox = Outbox(1_000)
    for start in range(1_000 // len(final(0).message.to_json())):
        outbox.put(final(start))
    with pytest.raises(SlowReader, match="1000 bytes"):
        outbox.put(final(9))
    outbox.abandon()
    outbox.close(Close(1008))
    assert await drained(outbox) == ([], Close(1008))


async def test_the_first_close_holds_and_nothing_follows_it():
    outbox = Outbox(1_000)
    outbox.close(Close(1008))
    outbox.close(Close(1000))
    outbox.put(final(0))
    assert await drained(outbox) == ([], Close(1008))


async def test_a_waiting_reader_wakes():
    outbox = Outbox(1_000)
    waiting = asyncio.create_task(outbox.take())
    await asyncio.wait([waiting], timeout=0)
    outbox.put(note("a"))
    assert "a" in await waiting


async def test_each_channel_has_a_partial_of_its_own():
    messages = ResultMessages("id", ServedModel("m", "1", "a", "u"), channels=2)

    def said(start_s, channel):
        return Send(
            messages.results(Partial(start_s, 1.0, (), 0), channel), channel, replaceable=True
        )

    outbox = Outbox(10_000)
    for start, channel in ((0, 0), (0, 1), (1, 0)):
        outbox.put(said(start, channel))
    outbox.put(Send(messages.results(Final(0, 2.0, (), True, False, "endpoint"), 1), 1))
    outbox.close(Close(1000))
    waiting, _ = await drained(outbox)
    assert [json.loads(text)["channel_index"] for text in waiting] == [[1, 2], [0, 2]]
    assert waiting[-1] == said(1, 0).message.to_json()
