"""Several channels of one request, over real sockets, decoded by the scripted engine."""

import asyncio
import io
import json

import numpy as np
import pytest
import soundfile
from websockets.exceptions import InvalidStatus

from earshot.streaming.errors import DecodingFailed, StreamClosed

CLOSE = '{"type": "CloseStream"}'
STEREO = "encoding=linear16&sample_rate=16000&channels=2"
APART = f"{STEREO}&multichannel=true"


def frames(*levels, seconds=0.5, rate=16000):
    """Interleaved linear16: for each moment the loudness of every channel, in percent."""
    audio = np.repeat(np.array(levels), round(seconds * rate), axis=0)
    return np.round(audio / 100 * 32768).astype("<i2").tobytes()


def finals(messages, channel=None):
    return [
        each["channel"]["alternatives"][0]["transcript"]
        for each in messages
        if each["type"] == "Results" and each["is_final"]
        if channel is None or each["channel_index"][0] == channel
    ]


async def test_channels_are_mixed_down_unless_asked_for(live, read):
    async with live.listen(STEREO) as socket:
        await socket.send(frames((10, 30), (20, 40)))
        await socket.send(CLOSE)
        messages = await read(socket)
    assert finals(messages) == ["w20 w30"]
    assert messages[0]["channel_index"] == [0, 1]
    assert messages[-1]["channels"] == 1


async def test_each_channel_is_heard_by_itself(live, engine, read):
    async with live.listen(f"{APART}&interim_results=true") as socket:
        audio = frames((10, 30), (20, 40))
        for at in range(0, len(audio), 4001):
            await socket.send(audio[at : at + 4001])
        await socket.send(CLOSE)
        messages = await read(socket)
    assert (finals(messages, 0), finals(messages, 1)) == (["w10 w20"], ["w30 w40"])
    assert {tuple(each["channel_index"]) for each in messages[:-1]} == {(0, 2), (1, 2)}
    assert len(engine.opened) == 2
    metadata = messages[-1]
    assert (metadata["type"], metadata["channels"], metadata["duration"]) == ("Metadata", 2, 1.0)
    assert socket.close_code == 1000


async def test_a_wav_is_split_where_its_channels_are_told(live, read):
    file = io.BytesIO()
    soundfile.write(file, np.repeat([[0.1, 0.3], [0.2, 0.4]], 8000, axis=0), 16000, format="WAV")
    async with live.listen("multichannel=true&channels=2") as socket:
        await socket.send(file.getvalue())
        await socket.send(CLOSE)
        messages = await read(socket)
    assert (finals(messages, 0), finals(messages, 1)) == (["w10 w20"], ["w30 w40"])


async def test_finalize_is_for_every_channel(live):
    async with live.listen(APART) as socket:
        await socket.send(frames((10, 30)))
        await socket.send('{"type": "Finalize"}')
        answers = [json.loads(await socket.recv()) for _ in range(2)]
    assert finals(answers, 0) + finals(answers, 1) == ["w10", "w30"]
    assert all(each["from_finalize"] for each in answers)


async def test_configure_is_for_every_channel_and_answered_once(live, engine):
    async with live.listen(f"{APART}&keyterm=route%2066&warnings=true") as socket:
        await socket.send('{"type": "Configure", "keyterms": ["iced tea", "4"]}')
        await socket.send('{"type": "Finalize"}')
        messages = []
        while not messages or messages[-1]["type"] != "Results":
            messages.append(json.loads(await socket.recv()))
    kinds = [each["type"] for each in messages]
    assert kinds.count("ConfigureSuccess") == 1
    phrases = [each["phrase"] for each in messages if each["type"] == "Warning"]
    assert phrases == ["route 66", "4"]
    for stream in engine.opened:
        assert [boost.phrase for boost in stream.boosts] == ["iced tea", "4"]


async def test_a_full_backlog_of_one_holds_the_client_up(live, engine, read):
    async with live.listen(APART) as socket:
        engine.paused = True
        for _ in range(12):
            await socket.send(frames((10, 30), seconds=1.0))
        await engine.full.wait()
        engine.resume()
        await socket.send(CLOSE)
        messages = await read(socket)
    assert len(finals(messages, 0)[0].split()) == len(finals(messages, 1)[0].split()) == 24


async def test_a_channel_that_fails_does_not_lose_the_others_text(live, engine, read):
    async with live.listen(APART) as socket:
        await socket.send(frames((10, 30)))
        await socket.send('{"type": "Finalize"}')
        for _ in range(2):
            await socket.recv()
        engine.opened[1].fail(DecodingFailed("broken"))
        error = json.loads(await socket.recv())
        await socket.send(frames((20, 40)))
        await socket.send('{"type": "KeepAlive"}')
        await socket.send(CLOSE)
        messages = await read(socket)
    assert error["type"] == "Error"
    assert error["description"].startswith("channel 1: ")
    assert finals(messages) == ["w20"]
    assert messages[-1]["type"] == "Metadata"
    assert socket.close_code == 1011
    assert engine.streams == []


async def test_when_all_channels_fail_the_session_does(live, engine, read):
    async with live.listen(APART) as socket:
        for stream in list(engine.opened):
            stream.fail(DecodingFailed("broken"))
        messages = await read(socket)
    assert [each["type"] for each in messages] == ["Error", "Error"]
    assert socket.close_code == 1011


async def test_a_request_gets_all_its_streams_or_none(live, engine):
    async with live.listen(APART), live.listen():
        with pytest.raises(InvalidStatus) as caught:
            await live.listen(APART)
        assert caught.value.response.status_code == 429
        assert len(engine.streams) == 3
        async with live.listen():
            assert len(engine.streams) == 4


async def test_a_client_that_goes_away_frees_all_its_streams(live, engine):
    async with live.listen(APART) as socket:
        await socket.send(frames((10, 30)))
    await live.idle()
    assert engine.streams == []
    assert len(engine.opened) == 2


async def test_a_drain_gives_the_last_words_of_every_channel(live, read):
    async with live.listen(APART) as socket:
        await socket.send(frames((10, 30)))
        await socket.send('{"type": "Finalize"}')
        for _ in range(2):
            await socket.recv()
        await socket.send(frames((20, 40)))
        live.server.should_exit = True
        messages = await asyncio.wait_for(read(socket), 10)
    assert messages[-1]["type"] == "Metadata"
    assert socket.close_code == 1012


def stereo_file(*levels):
    file = io.BytesIO()
    audio = np.repeat(np.array(levels) / 100, 8000, axis=0)
    soundfile.write(file, audio, 16000, format="WAV", subtype="PCM_16")
    return file.getvalue()


BODY = stereo_file((10, 30), (20, 40))


async def post(live, content=BODY, headers=None, **query):
    async with live.client() as http:
        return await http.post("/v1/listen", content=content, params=query, headers=headers)


async def test_a_files_channels_are_results_of_their_own(live, engine):
    body = (await post(live, multichannel="true")).json()
    results = body["results"]
    heard = [each["alternatives"][0]["transcript"] for each in results["channels"]]
    assert heard == ["w10 w20", "w30 w40"]
    said = [(each["channel"], each["transcript"]) for each in results["utterances"]]
    assert said == [(0, "w10 w20"), (1, "w30 w40")]
    assert (body["metadata"]["channels"], body["metadata"]["duration"]) == (2, 1.0)
    assert len(engine.opened) == 2


async def test_a_file_is_mixed_down_unless_asked_for(live):
    results = (await post(live)).json()["results"]
    (channel,) = results["channels"]
    assert channel["alternatives"][0]["transcript"] == "w20 w30"


@pytest.mark.parametrize(
    ("multichannel", "heard"), [("false", ["w20 w30"]), ("true", ["w10 w20", "w30 w40"])]
)
async def test_raw_samples_have_channels_too(live, multichannel, heard):
    answer = await post(
        live,
        frames((10, 30), (20, 40)),
        encoding="linear16",
        sample_rate="16000",
        channels="2",
        multichannel=multichannel,
    )
    channels = answer.json()["results"]["channels"]
    assert [each["alternatives"][0]["transcript"] for each in channels] == heard


async def test_text_and_subtitles_say_which_channel_spoke(live):
    text = (await post(live, multichannel="true", format="text")).text
    assert text == "[channel 0] w10 w20\n[channel 1] w30 w40\n"
    srt = (await post(live, multichannel="true", format="srt")).text
    assert "\n[channel 1] w30 w40\n" in srt


async def test_segments_and_progress_are_of_all_channels(live):
    answer = await post(live, headers={"accept": "text/event-stream"}, multichannel="true")
    events = [block.split("\ndata: ") for block in answer.text.strip().split("\n\n")]
    segments = [json.loads(data) for name, data in events if name == "event: segment"]
    assert [each["channel_index"] for each in segments] == [[0, 2], [1, 2]]
    progress = [json.loads(data) for name, data in events if name == "event: progress"]
    assert progress[-1] == {"done_s": 2.0, "total_s": 2.0}


async def test_more_channels_than_streams_are_refused(serve):
    async with serve(max_streams=4) as live:
        answer = await post(live, stereo_file((1, 2, 3, 4, 5)), multichannel="true")
    assert (answer.status_code, answer.json()["err_code"]) == (400, "INVALID_QUERY_PARAMETER")
    assert "5 channels; at most 4" in answer.json()["err_msg"]


def breaking(engine, *channels):
    """Let these of the streams to come fail at their first samples."""
    opened = engine.open

    def open_and_break(config, sink, priority, name):
        stream = opened(config, sink, priority, name)

        def broken(samples):
            stream.fail(DecodingFailed("broken"))
            raise StreamClosed("it has failed")

        if len(engine.opened) - 1 in channels:
            stream.push = broken
        return stream

    engine.open = open_and_break


async def test_a_channel_of_a_file_that_fails_does_not_lose_the_others_text(live, engine):
    breaking(engine, 0)
    body = (await post(live, multichannel="true", keyterm="route 66")).json()
    heard = [each["alternatives"][0]["transcript"] for each in body["results"]["channels"]]
    assert heard == ["", "w30 w40"]
    assert body["metadata"]["duration"] == 1.0
    warnings = [str(each) for each in body["metadata"]["warnings"]]
    assert len(warnings) == 2
    assert "channel 0" in warnings[0]
    assert "route 66" in warnings[1]


async def test_a_file_whose_channels_all_fail_fails(live, engine):
    breaking(engine, 0, 1)
    answer = await post(live, multichannel="true")
    assert (answer.status_code, answer.json()["err_code"]) == (500, "INTERNAL_SERVER_ERROR")
    await live.idle()
    assert engine.streams == []


@pytest.mark.parametrize("kind", ["WAV", "AU"])
async def test_a_file_whose_number_of_channels_makes_no_sense_is_refused(live, kind):
    file = io.BytesIO()
    soundfile.write(file, np.zeros(8000), 16000, format=kind, subtype="PCM_16")
    damaged = file.getvalue()[:22] + b"\xff\xff" + file.getvalue()[24:]
    async with live.client() as client:
        answer = await client.post("/v1/listen?multichannel=true", content=damaged)
    assert (answer.status_code, answer.json()["err_code"]) == (400, "UNDECODABLE_AUDIO")
