"""Streams of a model that wants silence before and after a recording."""

import copy
from dataclasses import replace

import pytest

from earshot.streaming.stream_config import StreamConfig

GREEDY = StreamConfig(mode="ctc_greedy_search")


@pytest.fixture
def engine(make_engine, tone_model):
    loaded = copy.deepcopy(tone_model)
    loaded.model.config.decoding = replace(
        loaded.model.config.decoding, lead_in_ms=240, flush_with_silence=True
    )
    return make_engine(loaded, chunk_size=8, num_left_chunks=2, max_streams=8)


def words(heard):
    return [word for final in heard.finals for word in final.alternatives[0].words]


def test_words_and_times_are_those_of_the_audio(engine, tone_engine, sounds):
    samples = sounds.speech("一三四 二_五")
    found, plain = (sounds.transcribe(each, samples, GREEDY) for each in (engine, tone_engine))
    assert [word.text for word in words(found)] == [word.text for word in words(plain)]
    for one, other in zip(words(found), words(plain), strict=True):
        assert one.start_s == pytest.approx(other.start_s, abs=0.05)
        assert one.end_s == pytest.approx(other.end_s, abs=0.05)
    assert found.finals[0].start_s == 0.0
    ends = [final.start_s + final.duration_s for final in found.finals]
    assert ends[-1] == pytest.approx(len(samples) / 16_000)
    assert found.wait_for_last().duration_s == pytest.approx(len(samples) / 16_000)


def test_each_beginning_has_its_own_and_none_moves_the_clock(engine, sounds):
    listener = sounds.Listener()
    stream = engine.open(GREEDY, listener)
    once = sounds.speech("一二")
    for _ in range(3):
        stream.push(once)
        stream.finalize()
    stream.finish()
    listener.wait_for_last()
    finals = [final for final in listener.finals if final.alternatives[0].text]
    assert [final.alternatives[0].text for final in finals] == ["一二"] * 3
    lasts = len(once) / 16_000
    assert [final.start_s for final in finals] == pytest.approx([0.0, lasts, 2 * lasts])
    assert [final.duration_s for final in finals] == pytest.approx([lasts] * 3)


@pytest.mark.parametrize("length", [0, 1, 399])
def test_where_there_is_no_frame_of_audio_there_is_no_text(engine, sounds, length):
    heard = sounds.transcribe(engine, sounds.noise(1.0)[:length], GREEDY)
    assert heard.text == ""
    assert heard.wait_for_last().duration_s == pytest.approx(length / 16_000)
