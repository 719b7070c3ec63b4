"""Language models by name, from a request to its answer: the service around a real engine."""

from pathlib import Path

import pytest
from served import app_of, final, pcm, transcript
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tiny_lms import TENANT, alike, write_lm

from earshot.streaming.graph_config import GraphSearchConfig

RAW = "encoding=linear16&sample_rate=16000&mode=ctc_wfst_beam_search"


@pytest.fixture
def lms(tmp_path: Path) -> Path:
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "tenant.lm", TENANT)
    return folder


@pytest.fixture
def in_search() -> bool:
    """Whether the search itself asks models."""
    return False


@pytest.fixture
def client(make_engine, tone_model, tmp_path, lms, in_search):
    graph = alike(tmp_path / "own", tone_model.tokenizer.vocab_size)
    search = GraphSearchConfig(lm_weight=0.5, max_active=200, lm_in_search=in_search)
    engine = make_engine(tone_model, graph=graph, graph_search=search, chunk_size=8, lm_dir=lms)
    with TestClient(app_of(engine, lms)) as client:
        yield client


def test_a_tenants_model_turns_a_files_wrong_word_into_the_right_one(client, sounds) -> None:
    body = pcm(sounds.speech("一二"))
    assert transcript(client.post(f"/v1/listen?{RAW}", content=body)) == "七二"
    assert transcript(client.post(f"/v1/listen?{RAW}&lm=tenant", content=body)) == "一二"


def test_an_unknown_model_is_refused_with_those_that_there_are(client, sounds) -> None:
    answer = client.post(f"/v1/listen?{RAW}&lm=law", content=pcm(sounds.noise(1.0)))
    assert answer.status_code == 400
    assert answer.json()["err_msg"].endswith("there are: tenant")
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"/v1/listen?{RAW}&lm=law"):
        pass


def test_a_live_stream_changes_its_model_and_outlives_a_wrong_name(client, sounds) -> None:
    with client.websocket_connect(f"/v1/listen?{RAW}") as socket:
        socket.send_bytes(pcm(sounds.speech("一")))
        socket.send_text('{"type": "Finalize"}')
        assert final(socket) == "七"
        socket.send_text('{"type": "Configure", "lm": "law"}')
        refused = socket.receive_json()
        assert (refused["type"], refused["code"]) == ("ConfigureFailure", "CONFIGURE_LM_INVALID")
        assert "there are: tenant" in refused["description"]
        socket.send_text('{"type": "Configure", "lm": "tenant:1"}')
        assert socket.receive_json()["type"] == "ConfigureSuccess"
        socket.send_bytes(pcm(sounds.speech("一")))
        socket.send_text('{"type": "Finalize"}')
        assert final(socket) == "一"
        socket.send_text('{"type": "Configure", "lm": "off"}')
        assert socket.receive_json()["type"] == "ConfigureFailure"  # this mode searches a graph
        socket.send_text('{"type": "Configure", "lm": "on"}')
        assert socket.receive_json()["type"] == "ConfigureSuccess"
        socket.send_bytes(pcm(sounds.speech("一")))
        socket.send_text('{"type": "CloseStream"}')
        assert final(socket) == "七"
        assert socket.receive_json()["type"] == "Metadata"
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()


def test_models_and_metrics_tell_of_them(client, lms: Path, sounds) -> None:
    size = (lms / "tenant.lm").stat().st_size
    told = client.get("/v1/models").json()["language_models"]
    assert told == [
        {
            "name": "tenant",
            "order": 1,
            "ngrams": len(TENANT),
            "words": len(TENANT),
            "bytes": size,
            "missing": 0,
            "subtracts": True,
            "searched": False,
            "classes": [],
        }
    ]
    client.post(f"/v1/listen?{RAW}&lm=tenant", content=pcm(sounds.speech("一")))
    metrics = client.get("/metrics").text
    assert "earshot_lm_finals_total 1.0" in metrics
    assert "earshot_open_lms 0.0" in metrics


@pytest.mark.parametrize("in_search", [True])
def test_a_search_with_models_is_told_of_and_heard_in_interim_results(client, sounds) -> None:
    [told] = client.get("/v1/models").json()["language_models"]
    assert told["searched"]
    asked = f"/v1/listen?{RAW}&lm=tenant&interim_results=true"
    with client.websocket_connect(asked) as socket:
        socket.send_bytes(pcm(sounds.speech("一二一")))
        first = socket.receive_json()
        assert not first["is_final"]
        assert first["channel"]["alternatives"][0]["transcript"].startswith("一")
        socket.send_text('{"type": "CloseStream"}')
        assert final(socket) == "一二一"
        assert socket.receive_json()["type"] == "Metadata"
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()
    metrics = client.get("/metrics").text
    assert "earshot_lm_searched_finals_total 1.0" in metrics
    assert "earshot_lm_finals_total 0.0" in metrics
