"""An iterator of utterances over an iterator of samples, on an engine that is scripted."""

from collections import deque
from functools import partial

import numpy as np
import pytest

from earshot.service.library.live_utterances import LiveUtterances
from earshot.service.writing import AS_HEARD, Writing
from earshot.streaming.errors import BacklogFull, DecodingFailed, EngineFull, EngineStopped
from earshot.streaming.events import Alternative, Closed, Final, Partial, RoomAvailable
from earshot.streaming.requests import Flush, Push
from earshot.streaming.stream_config import Boost, StreamConfig

HALF_S = 8000


def pieces(*levels: float):
    """Half a second each of some loudness, which the scripted engine hears as a word."""
    return iter([np.full(HALF_S, level, np.float32) for level in levels])


@pytest.fixture
def listen(engine):
    def start(audio, *, writing: Writing = AS_HEARD, **config) -> LiveUtterances:
        opening = partial(engine.open, StreamConfig(**config))
        return LiveUtterances(opening, map(Push, audio), writing=writing)

    return start


def test_partials_come_while_there_is_audio_and_the_final_when_it_ends(listen):
    told = [(each.text, each.is_final) for each in listen(pieces(0.1, 0.2))]
    assert told == [("w10", False), ("w10 w20", False), ("w10 w20", True)]


def test_a_result_is_told_before_more_audio_is_asked_for(listen):
    asked = []
    audio = (asked.append(0) or piece for piece in pieces(0.1, 0.2, 0.3))
    next(listen(audio))
    assert len(asked) == 1


def test_times_and_confidences_are_those_of_the_words(listen):
    *_, final = listen(pieces(0.1, 0.2))
    assert [(word.text, word.start_s, word.end_s) for word in final.words] == [
        ("w10", 0.0, 0.5),
        ("w20", 0.5, 1.0),
    ]
    assert (final.start_s, final.end_s, final.confidence, final.stable_words) == (0, 1, 0.9, 2)


def test_no_interim_results_on_request(listen):
    assert [each.text for each in listen(pieces(0.1, 0.2), interim_results=False)] == ["w10 w20"]


def test_silence_says_nothing(listen):
    assert list(listen(pieces())) == []


def test_what_is_not_boosted_is_told_with_the_reason(listen):
    utterances = listen(pieces(0.1), boosts=(Boost("2026"), Boost("coffee")))
    list(utterances)
    assert [each.phrase for each in utterances.unboostable] == ["2026"]


def closed_by_method(utterances):
    utterances.close()


def closed_by_with(utterances):
    with utterances:
        next(utterances)


@pytest.mark.parametrize("close", [closed_by_method, closed_by_with])
def test_closing_early_frees_the_stream(listen, engine, close):
    utterances = listen(pieces(0.1, 0.2))
    next(utterances)
    close(utterances)
    assert engine.streams == []
    assert engine.opened[0].cancelled
    assert list(utterances) == []


def test_leaving_the_loop_frees_the_stream(listen, engine):
    for _ in listen(pieces(0.1, 0.2)):
        break
    assert engine.streams == []


def test_no_stream_is_taken_by_what_is_never_iterated(listen, engine):
    listen(pieces(0.1)).close()
    assert engine.opened == []


def test_an_error_of_the_callers_iterator_comes_through_and_frees_the_stream(listen, engine):
    def broken():
        yield from pieces(0.1)
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        list(listen(broken()))
    assert engine.streams == []


def test_a_failed_stream_raises_what_it_failed_of(listen, engine):
    def audio():
        yield from pieces(0.1)
        engine.streams[0].fail(DecodingFailed("broken"))
        yield from pieces(0.2)

    with pytest.raises(DecodingFailed, match="broken"):
        list(listen(audio()))


def test_an_engine_that_is_full_or_has_stopped_says_so(listen, engine):
    engine.max_streams = 0
    with pytest.raises(EngineFull):
        next(listen(pieces(0.1)))
    engine.running = False
    with pytest.raises(EngineStopped):
        next(listen(pieces(0.1)))


class NarrowStream:
    """Has no room at first; hears `words`, one event after another."""

    def __init__(self, sink, events) -> None:
        self._sink = sink
        self._events = events
        self.pushed = deque[int]()
        self._refused = False

    def ask(self, request) -> None:
        match request:
            case Push(samples):
                self._push(samples)
            case Flush():
                for event in self._events:
                    self._sink(event)

    def _push(self, samples) -> None:
        if not self._refused:
            self._refused = True
            self._sink(RoomAvailable(1.0))
            raise BacklogFull("no room")
        self.pushed.append(len(samples))


def final(text: str) -> Final:
    said = Alternative(text, (), 0.0, 0.0)
    return Final(0.0, 1.0, (said,), speech_final=True, from_finalize=False, cause="end")


def partial_result(text: str) -> Partial:
    return Partial(0.0, 1.0, (Alternative(text, (), 0.0, 0.0),), 0)


def test_what_a_full_backlog_refuses_is_pushed_again():
    streams = []

    def opening(sink):
        streams.append(NarrowStream(sink, [Closed(1.0)]))
        return streams[0]

    assert list(LiveUtterances(opening, map(Push, pieces(0.1, 0.2)), writing=AS_HEARD)) == []
    assert list(streams[0].pushed) == [HALF_S, HALF_S]


def test_an_empty_final_is_told_only_to_take_a_partial_back():
    events = [final(""), partial_result("uh"), final(""), final(""), Closed(1.0)]
    told = LiveUtterances(lambda sink: NarrowStream(sink, events), iter(()), writing=AS_HEARD)
    assert [(each.text, each.is_final) for each in told] == [("uh", False), ("", True)]
