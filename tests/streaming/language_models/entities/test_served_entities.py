"""Members of a model's classes, from a request to its answer: ranked, and in the search."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from searching import SCALE
from served import app_of, final, pcm, transcript
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tiny_lms import TENANT, alike, write_lm

from earshot.streaming.graph_config import GraphSearchConfig

RAW = "/v1/listen?encoding=linear16&sample_rate=16000&mode=ctc_wfst_beam_search"
CALLS = {**TENANT, "<digit>": 0.5, "一 <digit>": 0.25, "<digit> 二": 0.25}
THREE = {"digit": ["三", "四"]}


@pytest.fixture
def lms(tmp_path: Path) -> Path:
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "calls.lm", CALLS)
    write_lm(folder / "plain.lm", TENANT)
    return folder


@pytest.fixture(params=[False, True], ids=["ranked", "searched"])
def client(request, make_engine, tone_model, tmp_path, lms):
    graph = alike(tmp_path / "own", tone_model.tokenizer.vocab_size)
    search = GraphSearchConfig(
        lm_weight=SCALE, max_active=200, lattice_beam=8.0, lm_in_search=request.param
    )
    engine = make_engine(tone_model, graph=graph, graph_search=search, chunk_size=8, lm_dir=lms)
    with TestClient(app_of(engine, lms)) as client:
        yield client


def asked(lm: str | None, entities: object, **others: str) -> str:
    named = {} if lm is None else {"lm": lm}
    listed = {} if entities is None else {"entities": json.dumps(entities, ensure_ascii=False)}
    query = "".join(
        f"&{name}={quote(value)}" for name, value in {**named, **listed, **others}.items()
    )
    return RAW + query


def refusal(answer) -> str:
    assert answer.status_code == 400, answer.text
    return answer.json()["err_msg"]


def test_a_member_is_heard_where_its_class_is_expected(client, sounds) -> None:
    body = pcm(sounds.speech("一三二"))
    without = transcript(client.post(asked("calls", None), content=body))
    assert "三" not in without
    assert transcript(client.post(asked("calls", THREE), content=body)) == "一三二"
    assert transcript(client.post(asked("on:0.5,calls:0.5", THREE), content=body)) == "一三二"


def test_a_member_of_several_words_is_told_word_by_word(client, sounds) -> None:
    body = pcm(sounds.speech("一四三二"))
    answer = client.post(asked("calls", {"digit": ["四 三", "三 四"]}), content=body)
    assert transcript(answer) == "一四三二"
    words = answer.json()["results"]["channels"][0]["alternatives"][0]["words"]
    assert [word["word"] for word in words] == list("一四三二")
    times = [time for word in words for time in (word["start"], word["end"])]
    assert times == sorted(times)
    assert times[2] < times[4] < times[6]


def test_a_word_that_the_graph_has_may_be_a_member_and_is_told_once(client, sounds) -> None:
    body = pcm(sounds.speech("一二"))
    path = asked("calls", {"digit": ["二"]}, alternatives="10")
    answer = client.post(path, content=body)
    assert transcript(answer) == "一二"
    found = answer.json()["results"]["channels"][0]["alternatives"]
    texts = [each["transcript"] for each in found]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("lm", "entities", "why"),
    [
        ("calls", {"town": ["三"]}, "entities: lm=calls has no class town; its classes: digit"),
        ("plain", THREE, "entities: lm=plain has no class digit; its classes: none"),
        ("calls:0.5,plain:0.5", THREE, "entities: lm=plain has no class digit"),
        (None, THREE, "entities: lm names no language model"),
        ("on", THREE, "entities: lm names no language model"),
        ("calls", {"digit": []}, "entities: digit has no members"),
        ("calls", {"digit": ["q"]}, "entities: 'q' of digit"),
        ("calls", {"digit": ["三 q 四"]}, "entities: '三 q 四' of digit: cannot encode 'q'"),
        ("calls", {"digit": [" "]}, "entities: member 1 of digit has no words"),
        ("calls", {"digit": ["三 " * 11]}, "of digit has 11 words, 10 are allowed"),
    ],
)
def test_what_cannot_be_heard_so_is_refused_by_name(client, sounds, lm, entities, why) -> None:
    answer = client.post(asked(lm, entities), content=pcm(sounds.noise(1.0)))
    assert why in refusal(answer)


def test_a_member_that_cannot_be_spelled_is_told_of_and_the_others_are_heard(
    client, sounds
) -> None:
    answer = client.post(asked("calls", {"digit": ["q", "二"]}), content=pcm(sounds.speech("一二")))
    assert transcript(answer) == "一二"
    [told] = answer.json()["metadata"]["warnings"]
    assert (told["parameter"], told["type"]) == ("entities", "unspellable_member")
    assert told["message"].startswith("q: left out of digit: ")


def test_a_search_without_a_graph_takes_none(client, sounds) -> None:
    path = asked(None, THREE).replace("ctc_wfst_beam_search", "ctc_greedy_search")
    assert "entities: no decoding graph is searched" in refusal(client.post(path, content=b"\0\0"))


def test_a_live_stream_changes_its_entities_and_outlives_wrong_ones(client, sounds) -> None:
    with client.websocket_connect(asked("calls", {"digit": ["四"]})) as socket:
        socket.send_bytes(pcm(sounds.speech("一三二")))
        socket.send_text('{"type": "Finalize"}')
        assert "三" not in final(socket)
        for wrong, why in [
            ({"town": ["三"]}, "has no class town"),
            ({"digit": ["三 四 q"]}, "'三 四 q' of digit: cannot encode 'q'"),
            (["三"], "a mapping is wanted"),
            ({"digit": ["q"]}, "'q' of digit"),
        ]:
            socket.send_text(json.dumps({"type": "Configure", "entities": wrong}))
            refused = socket.receive_json()
            assert (refused["type"], refused.get("code")) == (
                "ConfigureFailure",
                "CONFIGURE_LM_INVALID",
            )
            assert why in refused["description"]
        socket.send_text(json.dumps({"type": "Configure", "entities": {"digit": ["三"]}}))
        assert socket.receive_json()["type"] == "ConfigureSuccess"
        socket.send_bytes(pcm(sounds.speech("一三二")))
        socket.send_text('{"type": "Finalize"}')
        assert final(socket) == "一三二"
        socket.send_text('{"type": "Configure", "keyterms": ["四"]}')  # leaves them alone
        assert socket.receive_json()["type"] == "ConfigureSuccess"
        socket.send_bytes(pcm(sounds.speech("一三二")))
        socket.send_text('{"type": "Finalize"}')
        assert final(socket) == "一三二"
        two = {"digit": ["三 四"]}
        socket.send_text(json.dumps({"type": "Configure", "entities": two}))
        assert socket.receive_json()["type"] == "ConfigureSuccess"
        socket.send_bytes(pcm(sounds.speech("一三四二")))
        socket.send_text('{"type": "Finalize"}')
        assert final(socket) == "一三四二"
        socket.send_text('{"type": "Configure", "entities": {}}')
        assert socket.receive_json()["type"] == "ConfigureSuccess"
        socket.send_bytes(pcm(sounds.speech("一三二")))
        socket.send_text('{"type": "CloseStream"}')
        assert "三" not in final(socket)
        assert socket.receive_json()["type"] == "Metadata"
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()
