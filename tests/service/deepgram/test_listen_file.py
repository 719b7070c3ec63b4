"""Files over HTTP, decoded by the scripted engine."""

import asyncio
import io
import json

import numpy as np
import pytest
import soundfile

BYTES = {"content-type": "application/octet-stream"}


ROUTE_66 = {
    "parameter": "keyterm",
    "type": "unboostable_phrase",
    "message": "route 66: the model writes no digits",
    "phrase": "route 66",
}


def recording(levels, kind="WAV", subtype="PCM_16", rate=16000):
    """Half a second of each loudness."""
    audio = np.repeat(np.array(levels) / 100, rate // 2)
    file = io.BytesIO()
    soundfile.write(file, audio, rate, format=kind, subtype=subtype)
    return file.getvalue()


def events_of(text):
    """Server-sent events as (name, data)."""
    return [
        (block.split("\n")[0].removeprefix("event: "), json.loads(block.split("\n")[1][6:]))
        for block in text.strip().split("\n\n")
    ]


@pytest.fixture
async def http(live):
    async with live.client() as client:
        yield client


async def test_a_file_gives_a_response_in_deepgrams_shape(http):
    answer = await http.post("/v1/listen", content=recording([20, 30]), headers=BYTES)
    assert answer.status_code == 200
    body = answer.json()
    metadata, results = body["metadata"], body["results"]
    assert metadata["request_id"] == answer.headers["dg-request-id"]
    assert (metadata["duration"], metadata["channels"]) == (1.0, 1)
    assert metadata["model_info"][metadata["models"][0]]["name"] == "scripted"
    (alternative,) = results["channels"][0]["alternatives"]
    assert alternative["transcript"] == "w20 w30"
    assert [word["start"] for word in alternative["words"]] == [0.0, 0.5]
    (utterance,) = results["utterances"]
    assert (utterance["start"], utterance["end"], utterance["transcript"]) == (0.0, 1.0, "w20 w30")


@pytest.mark.parametrize(
    ("kind", "subtype", "rate"), [("FLAC", "PCM_16", 44100), ("OGG", "VORBIS", 48000)]
)
async def test_the_format_is_found_by_looking(http, kind, subtype, rate):
    file = recording([20, 20], kind, subtype, rate)
    answer = await http.post("/v1/listen", content=file, params={"format": "text"})
    assert len(answer.text.split()) == 2


@pytest.mark.parametrize("query", [{}, {"encoding": "linear16", "sample_rate": "16000"}])
async def test_a_file_is_brought_to_the_models_rate(http, engine, tone, query):
    engine.sample_rate_hz = 8000
    content = tone(1.0, 0.2) if query else recording([20, 20])
    answer = await http.post("/v1/listen", content=content, params=query, headers=BYTES)
    metadata, results = answer.json()["metadata"], answer.json()["results"]
    assert metadata["duration"] == 1.0
    assert results["channels"][0]["alternatives"][0]["transcript"] == "w20 w20"


async def test_raw_samples_are_read_as_the_query_says(http, tone):
    answer = await http.post(
        "/v1/listen?encoding=linear16&sample_rate=8000&format=text", content=tone(1.0, 0.4, 8000)
    )
    assert answer.text == "w40 w40\n"


@pytest.mark.parametrize(
    ("query", "size"),
    [("linear16", 0), ("linear16", 1), ("linear32", 3), ("linear16&channels=2", 3)],
)
async def test_raw_audio_without_a_whole_sample_is_refused(http, query, size):
    url = f"/v1/listen?sample_rate=16000&encoding={query}"
    answer = await http.post(url, content=bytes(size))
    assert (answer.status_code, answer.json()["err_code"]) == (400, "UNDECODABLE_AUDIO")
    assert "empty" in answer.json()["err_msg"]
    assert (await http.post(url, content=bytes(4))).status_code == 200


@pytest.mark.parametrize(
    ("name", "media_type", "text"),
    [
        ("text", "text/plain", "w20 w30\n"),
        ("srt", "application/x-subrip", "1\n00:00:00,000 --> 00:00:01,000\nw20 w30\n"),
        ("vtt", "text/vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nw20 w30\n"),
    ],
)
async def test_other_formats(http, name, media_type, text):
    answer = await http.post("/v1/listen", content=recording([20, 30]), params={"format": name})
    assert (answer.text, answer.headers["content-type"].split(";")[0]) == (text, media_type)


async def test_events_tell_progress_and_then_the_result(http):
    answer = await http.post(
        "/v1/listen", content=recording([20] * 8), headers={"accept": "text/event-stream"}
    )
    events = events_of(answer.text)
    names = [name for name, _ in events]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (names[0], names[-1]) == ("progress", "result")
    assert "segment" in names
    progress = [data for name, data in events if name == "progress"]
    assert all(each["total_s"] == 4.0 for each in progress)
    done = [each["done_s"] for each in progress]
    assert done == sorted(done)
    assert done[-1] == 4.0
    assert events[-1][1]["results"]["utterances"][0]["transcript"] == " ".join(["w20"] * 8)


async def test_events_carry_subtitles_as_json(http):
    answer = await http.post(
        "/v1/listen?format=srt", content=recording([20]), headers={"accept": "text/event-stream"}
    )
    name, data = events_of(answer.text)[-1]
    assert (name, data["format"]) == ("result", "srt")
    assert data["content"].startswith("1\n00:00:00,000")


@pytest.mark.parametrize(
    ("content", "headers", "status", "code", "named"),
    [
        (b"", {}, 400, "UNDECODABLE_AUDIO", "empty"),
        (b"garbage" * 99, {}, 400, "UNDECODABLE_AUDIO", "no audio format"),
        (b"PK\x03\x04" + bytes(500), {}, 400, "UNDECODABLE_AUDIO", "no audio format"),
        (recording([20] * 9)[:9000], {}, 400, "UNDECODABLE_AUDIO", "cut"),
        (b'{"url": "http://10.0.0.1/"}', {"content-type": "application/json"}, 400,
         "INVALID_QUERY_PARAMETER", "fetches no addresses"),
        (b"--x", {"content-type": "multipart/form-data; boundary=x"}, 400,
         "INVALID_QUERY_PARAMETER", "form"),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_refused(http, live, content, headers, status, code, named):
    answer = await http.post("/v1/listen", content=content, headers=headers)
    assert answer.status_code == status
    body = answer.json()
    assert body["err_code"] == code
    assert named in body["err_msg"]
    assert body["request_id"] == answer.headers["dg-request-id"]
    await live.idle()
    assert live.engine.streams == []


async def test_a_file_damaged_in_the_middle_ends_in_an_error_event(http, live):
    flac = bytearray(recording(list(range(10, 90)), "FLAC"))
    flac[len(flac) // 2 :] = b""
    answer = await http.post(
        "/v1/listen", content=bytes(flac), headers={"accept": "text/event-stream"}
    )
    name, data = events_of(answer.text)[-1]
    assert (name, data["err_code"]) == ("error", "UNDECODABLE_AUDIO")
    await live.idle()
    assert live.engine.streams == []


async def test_bad_parameters_are_400(http):
    answer = await http.post("/v1/listen?alternatives=x", content=recording([20]))
    assert (answer.status_code, answer.json()["err_code"]) == (400, "INVALID_QUERY_PARAMETER")


async def test_a_body_over_the_limit_is_413_with_or_without_a_stated_length(serve):
    async def unstated():
        for _ in range(40):
            yield bytes(1000)

    async with serve(max_file_bytes=10_000) as server, server.client() as client:
        for content in (bytes(40_000), unstated()):
            answer = await client.post("/v1/listen", content=content)
            assert (answer.status_code, answer.json()["err_code"]) == (413, "PAYLOAD_TOO_LARGE")


async def test_too_many_seconds_are_413(serve):
    async with serve(max_file_s=2) as server, server.client() as client:
        answer = await client.post("/v1/listen", content=recording([20] * 6))
    assert answer.status_code == 413
    assert "3 s, 2 s are allowed" in answer.json()["err_msg"]


async def test_an_upload_that_stalls_is_408(serve):
    async with serve(upload_timeout_s=0.1) as server, server.raw() as (reader, writer):
        writer.write(b"POST /v1/listen HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\nRIFF")
        answer = await asyncio.wait_for(reader.readuntil(b"}"), 60)
        assert answer.startswith(b"HTTP/1.1 408 ")


async def test_streams_taken_by_others_are_429(http, live):
    live.engine.max_streams = 0
    answer = await http.post("/v1/listen", content=recording([20]))
    assert (answer.status_code, answer.json()["err_code"]) == (429, "TOO_MANY_REQUESTS")
    assert int(answer.headers["retry-after"]) > 0


async def test_a_client_that_goes_away_frees_its_stream(live):
    live.engine.paused = True
    async with live.client() as client:
        request = asyncio.create_task(client.post("/v1/listen", content=recording([20] * 60)))
        await live.engine.full.wait()
        request.cancel()
        await asyncio.wait([request])
    await asyncio.wait_for(live.engine.freed.wait(), 60)
    await live.idle()
    assert live.engine.opened[0].cancelled


async def test_a_client_that_stops_reading_events_frees_its_stream(live):
    live.engine.paused = True
    async with (
        live.client() as client,
        client.stream(
            "POST",
            "/v1/listen",
            content=recording([20] * 60),
            headers={"accept": "text/event-stream"},
        ) as answer,
    ):
        lines = answer.aiter_lines()
        assert (await anext(lines)) == "event: progress"
        await live.engine.full.wait()
    await asyncio.wait_for(live.engine.freed.wait(), 60)
    await live.idle()
    assert live.engine.opened[0].cancelled


async def test_pages_of_allowed_origins_may_read_the_answer(serve):
    origin = "https://app.example"
    async with serve(allowed_origins=origin) as server, server.client() as client:
        answer = await client.post(
            "/v1/listen", content=recording([20]), headers={"origin": origin}
        )
    assert answer.headers["access-control-allow-origin"] == origin
    assert "dg-request-id" in answer.headers["access-control-expose-headers"]


async def test_a_file_longer_than_the_backlog_waits_for_room(http, live):
    live.engine.paused = True
    request = asyncio.create_task(
        http.post("/v1/listen?format=text", content=recording([20] * 100))
    )
    await live.engine.full.wait()
    live.engine.resume()
    assert len((await request).text.split()) == 100


async def test_n_best_lists_are_joined_by_rank(http):
    answer = await http.post("/v1/listen?alternatives=3", content=recording([20, 30]))
    alternatives = answer.json()["results"]["channels"][0]["alternatives"]
    assert [each["transcript"] for each in alternatives] == ["w20 w30"] * 3


async def test_phrases_that_cannot_be_boosted_are_named(http):
    answer = await http.post("/v1/listen?keyterm=route%2066", content=recording([20]))
    assert answer.json()["metadata"]["warnings"] == [ROUTE_66]


async def test_what_is_asked_and_not_done_is_named(http):
    url = "/v1/listen?diarize=true&topics=true&punctuate=true&numerals=false"
    answer = await http.post(url, content=recording([20]))
    assert answer.json()["metadata"]["warnings"] == [
        {"parameter": "diarize", "type": "unsupported_parameter",
         "message": "diarize: speakers are not told apart"},
        {"parameter": "topics", "type": "unsupported_parameter",
         "message": "topics: topics are not looked for"},
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["text", "srt", "vtt"])
async def test_formats_without_metadata_have_warnings_in_a_header_or_beside(http, form):
    url = f"/v1/listen?format={form}&keyterm=route%2066"
    answer = await http.post(url, content=recording([20]))
    assert answer.headers["dg-warning"] == ROUTE_66["message"]
    accept = {"accept": "text/event-stream"}
    events = await http.post(url, content=recording([20]), headers=accept)
    assert events_of(events.text)[-1][1]["warnings"] == [ROUTE_66]


async def test_a_refusal_in_the_clients_words_is_told_wherever_its_header_is_cut(http):
    for model in ("x" * length + " model" * 100 for length in range(7)):
        answer = await http.post("/v1/listen", params={"model": model}, content=recording([20]))
        assert answer.status_code == 400
        assert answer.headers["dg-error"].endswith(" ...")
        assert not answer.headers["dg-error"].endswith("  ...")
        assert answer.headers["dg-error"][:-4] in answer.json()["err_msg"]


async def test_a_warning_in_the_clients_words_is_told(http):
    url = "/v1/listen?format=text&keywords=%20coffee:100"
    answer = await http.post(url, content=recording([20]))
    assert answer.headers["dg-warning"] == "coffee: the weight 100 counts as 20"


@pytest.mark.parametrize("count", [15, 100])
async def test_warnings_without_room_in_the_header_are_counted(http, count):
    url = "/v1/listen?format=text" + "".join(f"&keyterm=route%20{n:03d}" for n in range(count))
    answer = await http.post(url, content=recording([20]))
    said = [f"route {number:03d}: the model writes no digits" for number in range(count)]
    told, left = answer.headers["dg-warning"].split(" ... and ")
    told = told.split("; ")
    assert told == said[: len(told)]
    assert left == f"{count - len(told)} more"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://["])
async def test_a_page_elsewhere_may_not_post(http, origin):
    answer = await http.post("/v1/listen", content=recording([20]), headers={"origin": origin})
    assert answer.status_code == 403


async def test_an_early_refusal_reaches_a_client_that_still_sends(serve):
    async with serve() as server:
        server.services.admission.draining = True
        async with server.client() as client:
            answer = await client.post("/v1/listen", content=bytes(4 << 20))
    assert answer.status_code == 503
