"""Calls that fail once change nothing, and a stream that cannot be decoded fails alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import product

import pytest
from break_once import break_once
from random_nemo import babble, random_nemo

from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.models.fastconformer.steps.native_encoder import NativeEncoder
from earshot.models.fastconformer.steps.native_stem import NativeConv2dStem
from earshot.models.fastconformer.steps.native_step import NativeChunkStep
from earshot.models.fastconformer.steps.state import FastConformerState
from earshot.streaming.engine.engine import Engine
from earshot.streaming.errors import OutputNotFinite, StreamClosed
from earshot.streaming.events import Closed, Event, Failed, Final, Partial, SpeechStarted
from earshot.streaming.fastconformer import recognizer
from earshot.streaming.fastconformer.cached_hearing import CachedHearing
from earshot.streaming.fastconformer.encode_step import EncodeStep
from earshot.streaming.fastconformer.recognizer import FastConformerRecognizer
from earshot.streaming.fastconformer.window_hearing import WindowHearing
from earshot.streaming.search.ctc_decoder import CtcDecoder
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream_config import EndpointConfig, StreamConfig
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

KINDS = ("chunks, tdt and ctc", "windows, rnnt and ctc")
CLIPS = [
    babble(4.5, seed, pause_s) for seed, pause_s in ((3, 0.5), (22, 0.02), (37, 0.02), (5, 0.4))
]
ENDPOINT = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
MODES = ("ctc_greedy_search", "transducer_greedy_search", "ctc_prefix_beam_search", None)

IN_CHUNKS, IN_WINDOWS = KINDS
EITHER_WAY = [
    (IN_CHUNKS, FastConformerRecognizer, "decode", 4),
    (IN_CHUNKS, FastConformerRecognizer, "restart", 3),
    (IN_CHUNKS, CtcDecoder, "restart", 2),
    (IN_CHUNKS, CtcDecoder, "_outputs", 4),
    *((kind, CtcDecoder, "truncate", 1) for kind in KINDS),
    (IN_WINDOWS, SearchSet, "rewind", 3),
    *((kind, LabelLoop, "__call__", 2) for kind in KINDS),
    (IN_CHUNKS, TransducerDecoder, "_take", 2),
    *((kind, TransducerDecoder, "truncate", 1) for kind in KINDS),
    (IN_WINDOWS, TransducerDecoder, "nbest", 1),
    (IN_CHUNKS, CachedHearing, "__call__", 3),
    (IN_WINDOWS, WindowHearing, "__call__", 2),
    (IN_CHUNKS, NativeChunkStep, "hear", 2),
    (IN_CHUNKS, NativeEncoder, "hear", 3),
    *((kind, NativeConv2dStem, "__call__", 2) for kind in KINDS),
]
BEFORE_THEIR_WORK = [
    *((kind, EncodeStep, "__call__", 2) for kind in KINDS),
    *((IN_CHUNKS, FastConformerState, "advance", at) for at in (1, 2, 5)),
]
"""What these have done they do not undo."""


def configs(engine: Engine) -> list[StreamConfig]:
    """All decoders, and two sizes of chunks."""
    usual, other = engine.model.chunks_ms[-2:]
    chunks_ms = (usual, usual, other, usual)
    return [
        StreamConfig(mode, endpoint=ENDPOINT, chunk_ms=chunk_ms, vad_events=True)
        for mode, chunk_ms in zip(MODES, chunks_ms, strict=True)
    ]


def told(listeners: Sequence) -> list[list[Event]]:
    """All that was told, to the bit."""
    kinds = (Partial, Final, SpeechStarted, Closed)
    return [[event for event in each.events if isinstance(event, kinds)] for each in listeners]


@pytest.fixture
def make(make_engine) -> Callable[[str], Engine]:
    return lambda kind: make_engine(random_nemo(kind), max_streams=len(CLIPS))


@pytest.fixture(scope="module")
def kept() -> dict[str, list]:
    return {}


@pytest.fixture
def expected(make, together, kept) -> Callable[[str], list]:
    """Listeners of all clips in an engine in which nothing fails."""

    def hear(kind: str) -> list:
        if kind not in kept:
            engine = make(kind)
            kept[kind] = together(engine, CLIPS, configs(engine))
        return kept[kind]

    return hear


@pytest.mark.parametrize("kind", KINDS)
def test_segments_end_in_all_ways(expected, kind) -> None:
    causes = {final.cause for listener in expected(kind) for final in listener.finals}
    assert causes == {"endpoint", "max_utterance", "end"}


@pytest.fixture
def assert_nothing_changes(make, together, expected) -> Callable[[str], None]:
    """Hears all clips where something fails once, and all is told as where nothing does."""

    def check(kind: str) -> None:
        engine = make(kind)
        assert told(together(engine, CLIPS, configs(engine))) == told(expected(kind))
        assert engine.stats.failed_streams == 0

    return check


@pytest.mark.parametrize(
    ("kind", "owner", "name", "at", "after"),
    [
        *((*case, False) for case in (*BEFORE_THEIR_WORK, *EITHER_WAY)),
        *((*case, True) for case in EITHER_WAY),
    ],
)
def test_a_call_that_fails_once_changes_nothing(
    expected, assert_nothing_changes, monkeypatch, kind, owner, name, at, after
) -> None:
    expected(kind)
    calls = break_once(monkeypatch, owner, name, at, after=after)
    assert_nothing_changes(kind)
    assert len(calls) > at


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cause", ["endpoint", "max_utterance", "end"])
def test_an_ending_that_gets_lost_is_found_again(
    expected, assert_nothing_changes, monkeypatch, kind, cause
) -> None:
    expected(kind)
    whole, lost = recognizer.divided_ending, []

    def losing(lane, decoder):
        ending = whole(lane, decoder)
        if ending is not None and ending.cause == cause and not lost:
            lost.append(ending)
            raise RuntimeError("lost")
        return ending

    monkeypatch.setattr(recognizer, "divided_ending", losing)
    assert_nothing_changes(kind)
    assert lost


@pytest.mark.parametrize(
    ("kind", "hearing", "number", "slot"),
    [
        *((IN_CHUNKS, CachedHearing, *case) for case in product((math.nan, 3e38), (0, 1))),
        (IN_WINDOWS, WindowHearing, math.nan, 1),
    ],
)
def test_a_stream_of_bad_numbers_fails_alone_and_leaves_nothing(
    make, together, expected, sounds, kind, hearing, number, slot
) -> None:
    wanted = told(expected(kind))
    engine = make(kind)
    with poisoned(hearing, slot, number):
        listeners = heard_to_the_end(engine, sounds)
    failed, found = listeners[slot], told(listeners)
    assert isinstance(failed.events[-1], Failed)
    assert isinstance(failed.events[-1].error, OutputNotFinite)
    assert found[:slot] + found[slot + 1 :] == wanted[:slot] + wanted[slot + 1 :]
    assert engine.stats.failed_streams == 1
    assert told(together(engine, CLIPS, configs(engine))) == wanted


@contextmanager
def poisoned(hearing: type, slot: int, number: float) -> Iterator[None]:
    """From its second step on the stream in a slot hears this number alone."""
    whole = hearing.__call__

    def hear(self, lanes):
        heard = whole(self, lanes)
        for lane, frames in zip(lanes, heard.encoded, strict=True):
            if lane.stream.slot == slot and lane.stream.steps > 1:
                frames.fill_(number)
        return heard

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hearing, "__call__", hear)
        yield


def heard_to_the_end(engine: Engine, sounds) -> list:
    """Listeners of all clips, whose streams may fail."""
    listeners = [sounds.Listener() for _ in CLIPS]
    opened = list(map(engine.open, configs(engine), listeners))
    for stream, clip in zip(opened, CLIPS, strict=True):
        stream.push(clip)
    for stream, listener in zip(opened, listeners, strict=True):
        with suppress(StreamClosed):
            stream.finish()
        listener.wait_for_last()
    return listeners
