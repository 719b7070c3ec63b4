"""Boosts of a transducer's streams in company: each stream has its own, for as long as it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from random_nemo import SYMBOLS, babble, random_nemo

from earshot.streaming.boosting import boost_capacity
from earshot.streaming.engine.engine import Engine
from earshot.streaming.events import Closed, Configured, Final, UnboostablePhrase
from earshot.streaming.requests import Configure
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig

KINDS = ("chunks, rnnt", "windows, tdt")
CLIP = babble(4.0, 3, pause_s=0.4)
ENDPOINT = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
DIGITS = SYMBOLS[:9]
BOOSTS = [
    (),
    tuple(Boost(one + other, 2.5) for one in DIGITS for other in DIGITS[:4]),
    tuple(Boost(one + other + one, 3.0) for one in DIGITS for other in DIGITS[4:]),
    (Boost("一", -3.0), Boost("九八七", 3.0), Boost("二二", 3.0)),
]
CONFIGS = [StreamConfig(endpoint=ENDPOINT, boosts=each) for each in BOOSTS]
SLOTS = len(CONFIGS)


@pytest.fixture(params=KINDS)
def make(make_engine, request: pytest.FixtureRequest) -> Callable[[], Engine]:
    return lambda: make_engine(random_nemo(request.param), max_streams=SLOTS)


def texts(listeners: Sequence) -> list[str]:
    return [each.text for each in listeners]


def alone(engine: Engine, sounds) -> list[str]:
    return texts([sounds.transcribe(engine, CLIP, config) for config in CONFIGS])


def test_boosts_in_company_are_those_alone(make, sounds, together) -> None:
    engine, other = make(), make()
    expected = alone(engine, sounds)
    assert len(set(expected)) == SLOTS
    for configs, wanted in ((CONFIGS, expected), (CONFIGS[::-1], expected[::-1])):
        for each in (engine, other):
            assert texts(together(each, [CLIP] * SLOTS, configs)) == wanted
    assert engine.stats.failed_streams == other.stats.failed_streams == 0


def test_a_slot_goes_on_without_the_boosts_of_its_last_stream(make, sounds) -> None:
    engine = make()
    [plain, *_] = alone(make(), sounds)
    for config in CONFIGS[1:] * 2:
        stream = engine.open(config, sounds.Listener())
        stream.push(CLIP[:20_000])
        stream.cancel()
        assert sounds.transcribe(engine, CLIP, CONFIGS[0]).text == plain


def test_boosts_too_many_for_the_arena_are_their_streams_own_loss(
    monkeypatch: pytest.MonkeyPatch, make, sounds, together
) -> None:
    expected = alone(make(), sounds)
    monkeypatch.setattr(boost_capacity, "BOOST_STATES_PER_STREAM", 1)
    many = tuple(Boost(one + other, 2.5) for one in SYMBOLS[:17] for other in SYMBOLS[:17])
    configs = [*CONFIGS[:1], StreamConfig(endpoint=ENDPOINT, boosts=many), *CONFIGS[3:]]
    listeners = together(make(), [CLIP] * len(configs), configs)
    assert texts(listeners) == [expected[0], expected[0], expected[3]]
    refused = [{each.phrase for each in one.of(UnboostablePhrase)} for one in listeners]
    assert refused == [set(), {boost.phrase for boost in many}, set()]


def test_other_boosts_between_segments_count_for_the_next(make, sounds) -> None:
    """Each part as it is with its boosts alone, whatever was boosted before it."""
    engine, listener = make(), sounds.Listener()
    expected = alone(make(), sounds)
    stream = engine.open(CONFIGS[0], listener)
    for number, boosts in enumerate([*BOOSTS[1:], *BOOSTS]):
        stream.ask(Configure(boosts))
        listener.wait_for(lambda _, n=number: len(listener.of(Configured)) > n)
        stream.push(CLIP)
        stream.finalize()
        listener.wait_for(lambda _, n=number: flushed(listener) > n)
    stream.finish()
    assert isinstance(listener.wait_for_last(), Closed)
    assert spoken(listener.finals) == [*expected[1:], *expected, ""]


def flushed(listener) -> int:
    return sum(final.cause == "finalize" for final in listener.finals)


def spoken(finals: Sequence[Final]) -> list[str]:
    """What was said up to each flush."""
    said = [""]
    for final in finals:
        said[-1] += final.alternatives[0].text
        said += [""] if final.cause == "finalize" else []
    return said
