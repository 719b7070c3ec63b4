"""Probes, metrics and the page."""

import json

import pytest


async def test_probes_answer_while_all_streams_are_taken(live):
    live.engine.max_streams = 0
    async with live.client() as client:
        for path in ("/healthz", "/readyz", "/metrics", "/v1/models"):
            assert (await client.get(path)).status_code == 200


async def test_probes_answer_load_balancers_that_ask_for_the_head_alone(live):
    async with live.client() as client:
        for path in ("/healthz", "/readyz", "/"):
            assert (await client.head(path)).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v3/listen", 404, "NOT_FOUND"),
        ("GET", "/nowhere%0d%0a.js", 404, "NOT_FOUND"),
        ("PUT", "/v1/listen", 405, "METHOD_NOT_ALLOWED"),
    ],
)
async def test_what_is_not_served_is_an_error_like_all_others(live, method, path, status, code):
    async with live.client() as client:
        answer = await client.request(method, path)
    assert answer.status_code == status
    body = answer.json()
    assert body["err_code"] == code
    assert body["err_msg"].startswith(f"{method} /")
    assert answer.headers["dg-request-id"] == body["request_id"]
    assert (answer.headers.get("allow") is not None) == (status == 405)


async def test_models_lists_the_model_and_its_other_names(live):
    async with live.client() as client:
        (model,) = (await client.get("/v1/models")).json()["stt"]
    assert (model["name"], model["streaming"], model["batch"]) == ("scripted", True, True)
    assert "nova-3" in model["aliases"]
    assert model["languages"] == ["en"]


async def test_models_tells_what_may_be_boosted(live):
    async with live.client() as client:
        limits = (await client.get("/v1/models")).json()["boost_limits"]
    assert limits == {"phrases": 1000, "phrase_characters": 200, "characters": 20_000}


async def test_a_model_without_a_card_is_told_to_have_none(live):
    async with live.client() as client:
        assert (await client.get("/v1/card")).json() == {"name": "scripted", "card": None}


async def test_metrics_count_what_happened(live, tone, read):
    async with live.listen("encoding=linear16&sample_rate=16000&interim_results=true") as socket:
        await socket.send(tone(0.5))
        await socket.recv()
        await socket.send('{"type": "CloseStream"}')
        await read(socket)
    await live.idle()
    async with live.client() as client:
        samples = "encoding=linear16&sample_rate=16000"
        await client.post(f"/v1/listen?{samples}", content=tone(1.5))
        await client.post("/v1/listen", content=b"garbage")
        text = (await client.get("/metrics")).text
    for line in (
        "earshot_sessions_total 1.0",
        "earshot_live_sessions 0.0",
        'earshot_audio_seconds_total{kind="live"} 0.5',
        "earshot_files_total 1.0",
        'earshot_audio_seconds_total{kind="file"} 1.5',
        "earshot_partial_latency_seconds_count 1.0",
        'earshot_final_latency_seconds_count{after="request"} 1.0',
        'earshot_rejects_total{code="UNDECODABLE_AUDIO"} 1.0',
    ):
        assert line in text
    assert "process_cpu_seconds_total" in text


async def test_the_page_and_its_scripts_are_served(live):
    async with live.client() as client:
        page = await client.get("/")
        assert page.headers["content-type"].startswith("text/html")
        style = await client.get("/web/style/theme.css")
        assert style.status_code == 200
        assert (await client.get("/web/../pyproject.toml")).status_code == 404


async def test_samples_are_listed_and_served(live):
    async with live.client() as client:
        samples = (await client.get("/v1/samples")).json()
        for sample in samples:
            assert {"file", "text", "source", "licence"} <= sample.keys(), json.dumps(sample)
            assert (await client.get(f"/web/samples/{sample['file']}")).status_code == 200
