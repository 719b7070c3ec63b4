"""Configure: what changes in the middle of a stream, and what is said of it."""

import json

import pytest
from protocol_session import protocol, sent

from earshot.service.sessions.actions import (
    Ask,
)
from earshot.streaming.events import (
    Configured,
    NotConfigured,
)
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.lm_mix import LmMix
from earshot.streaming.requests import Configure as ConfigureRequest
from earshot.streaming.stream_config import WHOLE, Boost


def test_configure_replaces_the_phrases_and_is_answered_when_done():
    session = protocol(keyterms=("old",))
    actions = session.receive_text('{"type": "Configure", "keyterms": ["iced tea:2"]}')
    assert actions == [Ask(ConfigureRequest((Boost("iced tea", 2.0),), GraphOptions(), {}))]
    (success,) = sent(session.receive_event(Configured(())))
    assert success == {
        "type": "ConfigureSuccess",
        "request_id": "request",
        "keyterms": ["iced tea:2"],
    }


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ({"features": {"numerals": True}}, ["features"]),
        ({"features": {"numerals": True}, "keyterms": ["tea"]}, ["features"]),
        ({}, ["Configure"]),
        ({"features": {}, "keyterms": None}, ["Configure"]),
        ({"features": None, "keyterms": []}, []),
        ({"keywords": ["tea:99"]}, ["keywords"]),
        ({"mode": "attention"}, ["mode"]),
        ({"mode": "attention", "features": {"numerals": True}}, ["features", "mode"]),
    ],
)
def test_a_configure_that_does_less_than_it_names_says_so(message, parameters):
    session = protocol(keyterms=("ice",), tell_warnings=True)
    session.receive_text(json.dumps({"type": "Configure", **message}))
    success, *told = sent(session.receive_event(Configured(())))
    assert success["type"] == "ConfigureSuccess"
    assert [each["parameter"] for each in success.get("warnings", [])] == parameters
    assert [each["parameter"] for each in told] == parameters


def test_configure_keeps_the_list_that_is_left_out():
    session = protocol(keyterms=("tea",))
    actions = session.receive_text('{"type": "Configure", "keyterms": null, "keywords": ["ice:2"]}')
    assert actions == [
        Ask(ConfigureRequest((Boost("tea", 8.0), Boost("ice", 2.0)), GraphOptions(), {}))
    ]
    session.receive_event(Configured(()))
    assert session.receive_text('{"type": "Configure", "keyterms": []}') == [
        Ask(ConfigureRequest((Boost("ice", 2.0),), GraphOptions(), {}))
    ]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"keyterms": ["a", "b", "c", "d"]}, "CONFIGURE_KEYTERM_LIMIT_EXCEEDED"),
        ({"keywords": ["a:b"]}, "CONFIGURE_KEYTERM_INVALID"),
        ({"lm_weight": -1}, "CONFIGURE_LM_INVALID"),
        ({"neural_lm_weight": 11}, "CONFIGURE_LM_INVALID"),
        ({"lm": "Law"}, "CONFIGURE_LM_INVALID"),
        ({"lm": "a:0.5,b:0.4"}, "CONFIGURE_LM_INVALID"),
        ({"beam": 1e9}, "CONFIGURE_LM_INVALID"),
    ],
)
def test_a_refused_configure_changes_nothing(message, code):
    session = protocol(keyterms=("tea",))
    (failure,) = sent(session.receive_text(json.dumps({"type": "Configure", **message})))
    assert (failure["type"], failure["code"]) == ("ConfigureFailure", code)
    assert session.receive_text('{"type": "Configure"}') == [
        Ask(ConfigureRequest((Boost("tea", 8.0),), GraphOptions(), {}))
    ]


def test_configure_says_how_the_graph_is_used_and_off_forgets_it():
    session = protocol()
    for message, graph in (
        ({"lm_weight": 0.5, "beam": 9}, GraphOptions(lm_weight=0.5, beam=9.0)),
        ({"max_active": 80}, GraphOptions(lm_weight=0.5, beam=9.0, max_active=80)),
        ({"lm": "off"}, GraphOptions(lm=False)),
        ({"keyterms": []}, GraphOptions(lm=False)),
        ({"lm": "law", "beam": 9}, GraphOptions(lm=LmMix((("law", 1.0),)), beam=9.0)),
        ({"lm_weight": 0.5}, GraphOptions(lm=LmMix((("law", 1.0),)), beam=9.0, lm_weight=0.5)),
        ({"lm": "off"}, GraphOptions(lm=False)),
        ({"lm": "on", "lm_weight": 1}, GraphOptions(lm=True, lm_weight=1.0)),
        ({"lm": "off"}, GraphOptions(lm=False)),
    ):
        text = json.dumps({"type": "Configure", **message})
        assert session.receive_text(text) == [Ask(ConfigureRequest((), graph, {}))]
        session.receive_event(Configured(()))


def test_configure_says_what_the_neural_language_model_counts_and_off_forgets_it():
    session = protocol()
    for message, weights in (
        ({"neural_lm_weight": 0.25}, {"neural_lm": 0.25}),
        ({"keyterms": []}, {"neural_lm": 0.25}),
        ({"lm": "off"}, {}),
        ({"lm": "on", "neural_lm_weight": 0}, {"neural_lm": 0.0}),
    ):
        text = json.dumps({"type": "Configure", **message})
        [asked] = session.receive_text(text)
        assert asked.request.weights == weights
        session.receive_event(Configured(()))


def test_configure_says_in_which_chunks_to_hear_and_they_stay():
    session = protocol()
    for message, chunk_ms in (
        ({"chunk": 320}, 320.0),
        ({"keyterms": []}, 320.0),
        ({"chunk": "whole"}, WHOLE),
        ({"lm": "off"}, WHOLE),
    ):
        text = json.dumps({"type": "Configure", **message})
        [asked] = session.receive_text(text)
        assert asked.request.chunk_ms == chunk_ms
        session.receive_event(Configured(()))


@pytest.mark.parametrize("chunk", ["320", "all", True, [320]])
def test_a_chunk_that_is_none_is_a_schema_error(chunk):
    (error,) = sent(protocol().receive_text(json.dumps({"type": "Configure", "chunk": chunk})))
    assert (error["type"], error["variant"]) == ("Error", "SchemaError")


def test_what_the_engine_cannot_configure_changes_nothing():
    session = protocol(keyterms=("tea",))
    session.receive_text('{"type": "Configure", "keyterms": ["ice"], "lm": "on"}')
    (failure,) = sent(session.receive_event(NotConfigured("there is no graph")))
    assert failure["code"] == "CONFIGURE_LM_INVALID"
    assert failure["description"] == "there is no graph"
    assert session.receive_text('{"type": "Configure"}') == [
        Ask(ConfigureRequest((Boost("tea", 8.0),), GraphOptions(), {}))
    ]


def test_one_configure_at_a_time():
    session = protocol()
    session.receive_text('{"type": "Configure", "keyterms": ["a"]}')
    (failure,) = sent(session.receive_text('{"type": "Configure", "keyterms": ["b"]}'))
    assert failure["code"] == "CONFIGURE_ALREADY_PENDING"
