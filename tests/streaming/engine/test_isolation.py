"""A stream whose decoding raises fails alone, and leaves nothing behind."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import Closed, Failed
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority

PREFIX = StreamConfig(mode="ctc_prefix_beam_search")
LOUD = 31.0
"""Log-mel energy that the poison alone reaches."""


class Poisoned:
    """Wraps a method of the model: lanes that hold the poison make it misbehave."""

    def __init__(self, inner, how):
        self.inner = inner
        self.how = how

    def __call__(self, feats, out_lengths, state):
        poisoned = feats.flatten(1).max(dim=1).values > LOUD
        if self.how == "raises" and bool(poisoned.any()):
            raise RuntimeError("poison")
        encoded, state = self.inner(feats, out_lengths, state)
        encoded[poisoned] = torch.nan
        return encoded, state


@pytest.fixture(params=["raises", "nan"])
def poisoned_model(request, tone_model):
    loaded = copy.deepcopy(tone_model)
    encoder = loaded.model.encoder
    encoder.forward_lanes = Poisoned(encoder.forward_lanes, request.param)
    return loaded


def poison(sounds):
    return np.float32(12.0) * sounds.tone("九", 0.3)


def test_the_guilty_stream_fails_and_its_company_does_not(make_engine, poisoned_model, sounds):
    engine = make_engine(poisoned_model, chunk_size=8, max_wait_ms=200, max_streams=4)
    text = "一二三四五六七八九"
    listeners = [sounds.Listener() for _ in range(4)]
    streams = [engine.open(PREFIX, listener) for listener in listeners]
    samples = sounds.speech(text)
    for start in range(0, len(samples), 1600):
        for index, stream in enumerate(streams):
            if index == 2 and start == 16000:
                stream.push(poison(sounds))
            if index != 2 or start <= 16000:
                stream.push(samples[start : start + 1600])
    for index in (0, 1, 3):
        streams[index].finish()
    assert [type(listener.wait_for_last()) for listener in listeners] == [
        Closed,
        Closed,
        Failed,
        Closed,
    ]
    assert isinstance(listeners[2].events[-1].error, DecodingFailed)
    assert [listeners[index].text for index in (0, 1, 3)] == [text] * 3
    assert engine.stats.failed_streams == 1
    assert sounds.transcribe(engine, samples, PREFIX).text == text


def test_a_freed_slot_leaks_no_text(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, chunk_size=8, max_streams=1)
    for ending in ("cancel", "finish"):
        listener = sounds.Listener()
        stream = engine.open(PREFIX, listener)
        sounds.push_all(stream, sounds.speech("一二三四"))
        listener.wait_for(lambda event: getattr(event, "alternatives", None))
        getattr(stream, ending)()
        listener.wait_for_last()
        after = sounds.transcribe(engine, sounds.noise(3.0), PREFIX)
        assert after.text == ""
        assert len(after.events) == 2


def test_a_sink_that_raises_ends_its_own_stream_only(tone_engine, sounds, caplog):
    def broken(event):
        raise ValueError("the caller's bug")

    stream = tone_engine.open(PREFIX, broken)
    sounds.push_all(stream, sounds.speech("一二三"))
    heard = sounds.transcribe(
        tone_engine, sounds.speech("四五六"), PREFIX, None, StreamPriority.LIVE
    )
    assert heard.text == "四五六"
    stream.cancel()
    assert "the caller's bug" in caplog.text


@pytest.mark.parametrize("when", ["before the work", "after the work"])
def test_a_search_that_fails_half_way_is_done_again(
    make_engine, tone_model, sounds, monkeypatch, when
):
    advance, calls = PrefixSearch.advance, []

    def failing_once(self, slots, log_probs, lengths):
        calls.append(len(slots))
        fails = len(calls) == 3
        if fails and when == "before the work":
            raise RuntimeError(when)
        advance(self, slots, log_probs, lengths)
        if fails:
            raise RuntimeError(when)

    monkeypatch.setattr(PrefixSearch, "advance", failing_once)
    engine = make_engine(tone_model, chunk_size=8)
    assert sounds.transcribe(engine, sounds.speech("一二三四五"), PREFIX).text == "一二三四五"
    assert engine.stats.failed_streams == 0


def test_a_freed_slot_holds_no_boosts(make_engine, tone_model, sounds, monkeypatch):
    set_boost, given = PrefixSearch.set_boost, []

    def noting(self, slot, table):
        given.append(table)
        set_boost(self, slot, table)

    monkeypatch.setattr(PrefixSearch, "set_boost", noting)
    engine = make_engine(tone_model, chunk_size=8)
    sounds.transcribe(engine, sounds.speech("一"), replace(PREFIX, boosts=(Boost("一"),)))
    assert given[0] is not None
    assert given[-1] is None
