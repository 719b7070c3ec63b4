"""Whatever a client sends and an engine says, in whatever order, a session keeps its promises."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.service.audio.pcm import PcmFormat
from earshot.service.deepgram.listen_protocol import ListenProtocol, State
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.errors import IdleSession
from earshot.service.request.boosts import BoostRules
from earshot.service.request.parameters import ListenParameters
from earshot.service.served_model import ServedModel
from earshot.service.sessions.actions import Ask, Close, Send
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import (
    Closed,
    Configured,
    Failed,
    Final,
    NotConfigured,
    Partial,
    RoomAvailable,
    SpeechStarted,
    UnboostablePhrase,
    UtteranceEnd,
)
from earshot.streaming.requests import FINISH, Cancel, Push
from earshot.streaming.stream_config import StreamConfig

CONTROL = ["KeepAlive", "Finalize", "CloseStream", "Configure", "Dance"]
EVENTS = [
    Partial(0.0, 1.0, (), 0),
    Final(0.0, 1.0, (), True, False, "endpoint"),
    SpeechStarted(0.0),
    UtteranceEnd(1.0),
    UnboostablePhrase("a", "b"),
    Configured(()),
    NotConfigured("no graph"),
    RoomAvailable(1.0),
    Closed(1.0),
    Failed(DecodingFailed("x")),
]
TEXTS = st.one_of(
    st.text(max_size=30),
    st.fixed_dictionaries(
        {"type": st.sampled_from(CONTROL)},
        optional={"keyterms": st.one_of(st.none(), st.lists(st.text(max_size=5), max_size=4))},
    ).map(json.dumps),
)
STEPS = st.one_of(
    st.tuples(st.just("receive_bytes"), st.binary(max_size=64)),
    st.tuples(st.just("receive_text"), TEXTS),
    st.tuples(st.just("receive_event"), st.sampled_from(EVENTS)),
    st.tuples(st.just("fail"), st.just(IdleSession("idle"))),
    st.tuples(st.just("idle"), st.just(IdleSession("idle"))),
    st.tuples(st.just("drain")),
)
FORMATS = st.sampled_from([PcmFormat("linear16", 8000), PcmFormat("linear32", 16000), None])


@settings(deadline=None, max_examples=300)
@given(FORMATS, st.lists(STEPS, max_size=30))
def test_a_session_ends_once_and_is_silent_after(pcm, steps):
    messages = ResultMessages("r", ServedModel("m", "1", "a", "u"))
    parameters = ListenParameters(StreamConfig(), pcm, "json")
    session = ListenProtocol(messages, parameters, BoostRules(), 16000)
    done = []
    for name, *arguments in steps:
        was = session.state
        actions = getattr(session, name)(*arguments)
        assert was is not State.CLOSED or actions == []
        done += actions
    closes = [index for index, action in enumerate(done) if isinstance(action, Close)]
    assert len(closes) == (session.state is State.CLOSED)
    assert all(index == len(done) - 1 for index in closes)
    finishes = [index for index, action in enumerate(done) if action == Ask(FINISH)]
    assert len(finishes) <= 1
    after_the_finish = done[finishes[0] :] if finishes else []
    assert not any(_is_push(action) for action in after_the_finish)
    assert sum(action == Ask(Cancel()) for action in done) <= 1


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(EVENTS)), max_size=30), st.booleans())
def test_a_session_of_three_channels_ends_once_whatever_happens_to_each(events, drained):
    messages = ResultMessages("r", ServedModel("m", "1", "a", "u"), channels=3)
    pcm = PcmFormat("linear16", 16000, channels=3)
    parameters = ListenParameters(StreamConfig(), pcm, "json", channels_apart=3)
    session = ListenProtocol(messages, parameters, BoostRules(), 16000)
    done = session.receive_bytes(bytes(60)) + (session.drain() if drained else [])
    over = set()
    for channel, event in events:
        if channel not in over:
            done += session.receive_event(event, channel)
        if isinstance(event, Closed | Failed):
            over.add(channel)
    assert {action.channel for action in done if _is_push(action)} == {0, 1, 2}
    assert (session.state is State.CLOSED) == (len(over) == 3)
    closes = [index for index, action in enumerate(done) if isinstance(action, Close)]
    assert closes == ([len(done) - 1] if len(over) == 3 else [])


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=400), st.lists(st.integers(1, 60), min_size=1, max_size=20))
def test_where_audio_is_cut_into_messages_does_not_matter(data, cuts):
    def heard(pieces):
        messages = ResultMessages("r", ServedModel("m", "1", "a", "u"))
        parameters = ListenParameters(StreamConfig(), PcmFormat("linear16", 16000), "json")
        session = ListenProtocol(messages, parameters, BoostRules(), 16000)
        actions = [action for piece in pieces for action in session.receive_bytes(piece)]
        pushed = [action.request.samples for action in actions if _is_push(action)]
        return np.concatenate([np.empty(0, np.float32), *pushed])

    pieces, rest = [], data
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    pieces = [piece for piece in [*pieces, rest] if piece]
    np.testing.assert_array_equal(heard(pieces), heard([data] if data else []))


@given(TEXTS)
def test_an_answer_to_any_text_is_json_that_names_its_type(text):
    messages = ResultMessages("r", ServedModel("m", "1", "a", "u"))
    parameters = ListenParameters(StreamConfig(), PcmFormat("linear16", 16000), "json")
    for action in ListenProtocol(messages, parameters, BoostRules(), 16000).receive_text(text):
        if isinstance(action, Send):
            assert json.loads(action.message.to_json())["type"] in ("Error", "ConfigureFailure")


def _is_push(action):
    return isinstance(action, Ask) and isinstance(action.request, Push)
