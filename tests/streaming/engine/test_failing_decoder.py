"""A decoder that raises where nobody asked for it: while it cleans up, at a final, or for good."""

from contextlib import suppress
from functools import partial

import pytest

from earshot.streaming.engine.failure_streak import MOST_IN_A_ROW
from earshot.streaming.errors import DecodingFailed, EngineStopped, StreamClosed
from earshot.streaming.events import Closed, Failed
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.stream_name import StreamName

PREFIX = StreamConfig(mode="ctc_prefix_beam_search")
NAME = StreamName("request", 2)


def break_decoder(engine, *names, times=10**6, after=False):
    """Make calls of the engine's decoder raise so many times, each before its work or after it."""
    left = [times]

    def broken(work, *arguments):
        if after:
            work(*arguments)
        if left[0] > 0:
            left[0] -= 1
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return None if after else work(*arguments)

    for name in names:
        recognizer = engine._recognizer
        setattr(recognizer, name, partial(broken, getattr(recognizer, name)))


def hear(engine, sounds, text):
    """Speak through a stream of the engine; return its listener and its last event."""
    listener = sounds.Listener()
    stream = engine.open(PREFIX, listener, name=NAME)
    with suppress(StreamClosed):  # it may have failed already
        sounds.push_all(stream, sounds.speech(text))
        stream.finish()
    return listener, listener.wait_for_last()


def test_a_restart_that_raises_fails_its_stream_alone(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, chunk_size=8, max_streams=4)
    bystander = sounds.Listener()
    stream = engine.open(PREFIX, bystander)
    sounds.push_all(stream, sounds.speech("一二三"))
    break_decoder(engine, "restart", times=2)  # for all together, then for the one alone
    listener, last = hear(engine, sounds, "四_五")
    assert isinstance(last.error, DecodingFailed)
    assert listener.text == "四"
    assert engine.running
    stream.finish()
    assert isinstance(bystander.wait_for_last(), Closed)
    assert bystander.text == "一二三"


@pytest.mark.parametrize("after", [False, True])
def test_a_restart_that_raises_once_is_done_again_and_loses_no_word(
    make_engine, tone_model, sounds, after
):
    engine = make_engine(tone_model, chunk_size=8)
    break_decoder(engine, "restart", times=1, after=after)
    listener, last = hear(engine, sounds, "一二_三四_五六")
    assert isinstance(last, Closed)
    assert listener.text == "一二三四五六"


def test_a_slot_that_cannot_be_emptied_goes_to_nobody_until_it_can(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, chunk_size=8, max_streams=2)
    break_decoder(engine, "free", times=1)
    listener, last = hear(engine, sounds, "一二")
    assert (listener.text, last) == ("一二", Closed(len(sounds.speech("一二")) / sounds.rate_hz))
    assert engine.stats.kept_slots == 1
    second = sounds.Listener()
    stream = engine.open(PREFIX, second)
    assert not engine.can_open()
    stream.cancel()
    second.wait_for_last()
    assert hear(engine, sounds, "三四")[0].text == "三四"
    engine.open(PREFIX, sounds.Listener())
    assert engine.can_open()
    assert engine.stats.kept_slots == 0


def test_an_engine_whose_slots_cannot_be_emptied_ends(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, chunk_size=8, max_streams=2)
    break_decoder(engine, "free")
    for text in ("一", "二"):
        assert hear(engine, sounds, text)[0].text == text
    engine._thread.join(60)
    assert not engine.running
    with pytest.raises(EngineStopped):
        engine.open(PREFIX, sounds.Listener())


@pytest.mark.parametrize("names", [("encode",), ("encode", "free", "restart"), ("configure",)])
def test_an_engine_that_only_fails_ends_and_tells_who_is_still_there(
    make_engine, tone_model, sounds, caplog, names
):
    engine = make_engine(tone_model, chunk_size=8, max_streams=MOST_IN_A_ROW + 1)
    waiting = sounds.Listener()
    engine.open(PREFIX, waiting).push(sounds.noise(0.01))
    assert hear(engine, sounds, "一")[0].text == "一"
    break_decoder(engine, *names)
    failures = 0
    with suppress(EngineStopped):
        while isinstance(hear(engine, sounds, "一")[1].error, DecodingFailed):
            failures += 1
            assert failures <= MOST_IN_A_ROW
    engine._thread.join(60)
    assert not engine.running
    assert isinstance(waiting.wait_for_last().error, EngineStopped)
    assert "the engine ended by itself" in caplog.text


def test_failures_with_success_between_them_end_nothing(make_engine, tone_model, sounds):
    engine = make_engine(tone_model, chunk_size=8, max_streams=4)
    encode = engine._recognizer.encode

    def fails(lanes):
        raise RuntimeError("this one")

    for _ in range(MOST_IN_A_ROW):
        engine._recognizer.encode = fails
        assert isinstance(hear(engine, sounds, "一")[1], Failed)
        engine._recognizer.encode = encode
        assert hear(engine, sounds, "二")[0].text == "二"
    assert engine.running


def test_a_second_pass_that_raises_leaves_the_first_passes_text(
    make_engine, tone_model, sounds, caplog
):
    engine = make_engine(tone_model, chunk_size=8)
    break_decoder(engine, "finish")
    listener, last = hear(engine, sounds, "一二_三")
    assert isinstance(last, Closed)
    assert listener.text == "一二三"
    assert [final.second_pass_failed for final in listener.finals] == [True, True]
    assert engine.stats.second_pass_failures == 2
    assert engine.stats.failed_streams == 0
    assert "the second pass failed" in caplog.text


def test_a_second_pass_that_works_marks_nothing(tone_engine, sounds):
    assert [f.second_pass_failed for f in hear(tone_engine, sounds, "一")[0].finals] == [False]


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("encode", "decoding a stream failed"),
        ("decode_again", "decoding a stream failed"),
        ("finish", "the second pass failed; finals are the first's"),
        ("free", "slot 0 could not be emptied and is kept back"),
    ],
)
def test_a_line_of_what_failed_names_the_request(
    make_engine, tone_model, sounds, caplog, broken, line
):
    engine = make_engine(tone_model, chunk_size=8, max_streams=2)
    break_decoder(engine, broken)
    if broken == "decode_again":
        break_decoder(engine, "decode")
    hear(engine, sounds, "一")
    lines = [record for record in caplog.records if record.getMessage() == line]
    assert {(record.request_id, record.channel) for record in lines} == {("request", 2)}
    assert all(record.exc_info for record in lines)


def test_a_line_of_a_step_that_failed_names_the_requests(make_engine, tone_model, sounds, caplog):
    engine = make_engine(tone_model, chunk_size=8)
    break_decoder(engine, "encode", times=1)
    hear(engine, sounds, "一")
    [line] = [record for record in caplog.records if "trying each alone" in record.getMessage()]
    assert line.request_id == "request"
