"""Files over HTTP in OpenAI's shape, decoded by the scripted engine."""

import asyncio
import json

import pytest
from form_files import recording

PATH = "/v1/audio/transcriptions"


def events_of(text: str) -> list[dict[str, object]]:
    return [json.loads(block.removeprefix("data: ")) for block in text.strip().split("\n\n")]


@pytest.fixture
async def http(live):
    async with live.client() as client:
        yield client


async def test_a_file_gives_its_text(http):
    answer = await http.post(PATH, files=recording(20, 30), data={"model": "whisper-1"})
    assert answer.status_code == 200
    assert answer.json() == {
        "text": "w20 w30",
        "usage": {"type": "duration", "seconds": 1.0},
    }
    assert answer.headers["x-request-id"]


async def test_a_verbose_answer_has_segments_and_their_scores(http):
    data = {"model": "whisper-1", "response_format": "verbose_json"}
    told = (await http.post(PATH, files=recording(20, 30), data=data)).json()
    assert (told["text"], told["duration"], told["language"]) == ("w20 w30", 1.0, "en")
    [segment] = told["segments"]
    assert (segment["start"], segment["end"], segment["text"]) == (0.0, 1.0, "w20 w30")
    assert -10 < segment["avg_logprob"] <= 0
    assert "words" not in told


async def test_words_come_with_times_where_they_are_asked_for(http):
    data = {
        "response_format": "verbose_json",
        "timestamp_granularities[]": ["word", "segment"],
    }
    told = (await http.post(PATH, files=recording(20, 30), data=data)).json()
    assert told["words"] == [
        {"word": "w20", "start": 0.0, "end": 0.5},
        {"word": "w30", "start": 0.5, "end": 1.0},
    ]
    assert len(told["segments"]) == 1
    data["timestamp_granularities[]"] = ["word"]
    told = (await http.post(PATH, files=recording(20, 30), data=data)).json()
    assert "segments" not in told


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text", "w20 w30\n"),
        ("srt", "1\n00:00:00,000 --> 00:00:01,000\nw20 w30\n"),
        ("vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nw20 w30\n"),
    ],
)
async def test_other_formats(http, kind, body):
    data = {"response_format": kind, "temperature": "0.5"}
    answer = await http.post(PATH, files=recording(20, 30), data=data)
    assert answer.text == body
    assert answer.headers["x-warning"] == "temperature: nothing is drawn by chance here"


async def test_a_stream_has_each_utterance_and_then_all(http):
    answer = await http.post(PATH, files=recording(20, 30), data={"stream": "true"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    *deltas, done = events_of(answer.text)
    assert {each["type"] for each in deltas} == {"transcript.text.delta"}
    assert "".join(str(each["delta"]) for each in deltas) == "w20 w30"
    assert done.pop("usage") == {"type": "duration", "seconds": 1.0}
    assert done == {"type": "transcript.text.done", "text": "w20 w30"}


async def test_a_stream_of_silence_has_no_delta(http, tone):
    raw = {"stream": "true", "encoding": "linear16", "sample_rate": "16000"}
    answer = await http.post(PATH, files={"file": ("a.raw", tone(0.2))}, data=raw)
    [done] = events_of(answer.text)
    assert (done["type"], done["text"]) == ("transcript.text.done", "")


async def test_a_stream_tells_its_warnings_at_its_end(http):
    data = {"stream": "true", "prompt": "tea"}
    answer = await http.post(PATH, files=recording(20), data=data)
    assert [each["parameter"] for each in events_of(answer.text)[-1]["warnings"]] == ["prompt"]


async def test_what_breaks_in_a_stream_is_its_last_event(http, live):
    live.engine.paused = True
    long = recording(*[20] * 30)
    async with http.stream("POST", PATH, files=long, data={"stream": "true"}) as answer:
        await live.engine.full.wait()
        live.engine.die()
        text = (await answer.aread()).decode()
    assert events_of(text)[-1]["error"]["type"] == "server_error"


async def test_a_client_that_leaves_in_mid_form_frees_its_place(live):
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: here\r\nContent-Length: 9999\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
    )
    async with live.raw() as (_, writer):
        writer.write(head.encode())
        await writer.drain()
    await live.idle()
    assert live.services.admission._files == 0


async def test_strict_names_are_strict_here_too(serve):
    async with serve(strict_models=True) as server, server.client() as client:
        answer = await client.post(PATH, files=recording(20), data={"model": "whisper-1"})
        assert answer.status_code == 400
        assert "whisper-1" in answer.json()["error"]["message"]


async def test_warnings_are_in_what_is_json(http):
    data = {"prompt": "tea", "keywords[]": ["route 66"]}
    told = (await http.post(PATH, files=recording(20), data=data)).json()["warnings"]
    assert [each["parameter"] for each in told] == ["prompt", "keyterm"]


@pytest.mark.parametrize(
    ("request_of", "status", "told"),
    [
        ({"data": {"model": "whisper-1"}, "files": {"x": b""}}, 400, "no field 'file'"),
        ({"content": b"sound", "headers": {"content-type": "audio/wav"}}, 400, "must be a form"),
        ({"files": {"file": ("a.wav", b"garbage" * 99)}}, 400, ""),
        ({"files": recording(20), "data": {"model": "no-such-model"}}, 400, "no-such-model"),
        ({"files": recording(20), "data": {"language": "xx"}}, 400, "language=xx"),
        ({"files": recording(20), "headers": {"origin": "http://evil.example"}}, 403, "evil"),
    ],
)
async def test_refusals_have_openais_shape(http, request_of, status, told):
    answer = await http.post(PATH, **request_of)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert told in error["message"]
    assert (error["type"], error["param"]) == ("invalid_request_error", None)


async def test_a_wrong_path_or_method_below_it_has_openais_shape(http):
    answer = await http.post("/v1/audio/translations", files=recording(20))
    assert answer.status_code == 404
    assert PATH in answer.json()["error"]["message"]
    answer = await http.get(PATH)
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "method_not_allowed"


async def test_a_form_beyond_the_limit_is_refused(serve):
    async with serve(max_file_bytes=2000) as server, server.client() as client:
        answer = await client.post(PATH, files=recording(20, 20))
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "payload_too_large"
        await server.idle()


async def test_a_full_server_says_when_to_come_again(serve, engine):
    engine.max_streams = 0
    async with serve() as server, server.client() as client:
        answer = await client.post(PATH, files=recording(20))
        assert answer.status_code == 429
        assert answer.json()["error"]["type"] == "rate_limit_error"
        assert int(answer.headers["retry-after"]) > 0


async def test_models_are_listed_in_both_shapes(http):
    told = (await http.get("/v1/models")).json()
    assert told["object"] == "list"
    assert {"scripted", "whisper-1", "gpt-4o-transcribe"} <= {each["id"] for each in told["data"]}
    assert told["stt"][0]["name"] == "scripted"
    assert (await http.get("/v1/models/whisper-1")).json()["id"] == "whisper-1"
    for name, told in (("no-such-model", "no-such-model"), ("", "is empty")):
        refused = await http.get(f"/v1/models/{name}")
        assert refused.status_code == 404
        assert told in refused.json()["error"]["message"]


async def test_files_at_once_do_not_mix(http):
    answers = await asyncio.gather(
        *(http.post(PATH, files=recording(level)) for level in (20, 30, 40))
    )
    assert [answer.json()["text"] for answer in answers] == ["w20", "w30", "w40"]
