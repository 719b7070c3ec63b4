import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection, serve

from benchmarks.server.open_load import Heard, OpenLoad, shares
from benchmarks.server.talks import EarshotTalk, SherpaTalk, TalkFailed
from earshot.service.bench.clips import BYTES_PER_SECOND, Clip

CLIP = Clip("short", bytes(BYTES_PER_SECOND // 5), "hello")


@asynccontextmanager
async def listening(server: Callable[[ServerConnection], Awaitable[None]]) -> AsyncIterator[str]:
    async with serve(server, "127.0.0.1", 0) as running:
        yield f"ws://127.0.0.1:{running.sockets[0].getsockname()[1]}"


async def peer(socket: ServerConnection) -> None:
    async for data in socket:
        if data == "Done":
            await socket.send(json.dumps({"text": " hello "}))
            await socket.send("Done!")


async def heard_of(server: Callable[[ServerConnection], Awaitable[None]]) -> Heard:
    async with listening(server) as url:
        load = OpenLoad(url, SherpaTalk, streams=2, seconds=0.6)
        return await load.run([CLIP], cpu_s=iter([1.0, 3.0]).__next__)


async def test_every_utterance_that_ends_is_counted_with_its_text() -> None:
    heard = await heard_of(peer)
    assert set(heard.texts) == {("hello", "hello")}
    assert len(heard.texts) == len(heard.finals_s)
    assert not heard.failures


async def test_cpu_time_is_that_of_the_window() -> None:
    assert (await heard_of(peer)).cpu_s == 2.0


async def test_a_count_does_not_hold_where_the_server_hangs_up() -> None:
    async def hangs_up(socket: ServerConnection) -> None:
        await socket.close()

    heard = await heard_of(hangs_up)
    assert heard.failures
    assert not heard.holds


def test_nobody_says_what_another_says_while_there_are_enough_clips() -> None:
    clips = [Clip(str(index), b"") for index in range(7)]
    own = shares(clips, 3)
    assert sorted(clip.name for each in own for clip in each) == [clip.name for clip in clips]


def test_everybody_has_something_to_say_where_clips_are_few() -> None:
    assert shares([CLIP], 3) == [[CLIP]] * 3


def test_finals_of_an_utterance_are_joined_and_partials_are_not() -> None:
    talk = EarshotTalk()
    for text, final in (("one", True), ("tw", False), ("two", True)):
        alternatives = {"alternatives": [{"transcript": text}]}
        talk.hear(json.dumps({"type": "Results", "is_final": final, "channel": alternatives}))
    talk.hear(json.dumps({"type": "Metadata"}))
    assert (talk.text, talk.ended) == ("one two", True)


def test_an_error_of_the_server_is_raised() -> None:
    with pytest.raises(TalkFailed, match="full"):
        EarshotTalk().hear(json.dumps({"type": "Error", "description": "full"}))


def test_the_peer_gets_floats() -> None:
    packet = SherpaTalk().packet(np.array([-32768, 16384], "<i2").tobytes())
    assert np.frombuffer(packet, np.float32).tolist() == [-1.0, 0.5]
