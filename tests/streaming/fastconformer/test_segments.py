"""Segments divide what a stream says, and change nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from random_nemo import KINDS, babble, random_nemo

from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Final, Partial, Word
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

SECONDS = 10.0
CLIPS = [babble(SECONDS, seed) for seed in (3, 27, 37, 42)]
"""In some of them a label of CTC lasts over a boundary."""
CHUNKS_MS = (None, 160.0, 320.0, None)
QUICK = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
NEVER = EndpointConfig(silence_ms=None, no_speech_ms=60_000, max_utterance_ms=60_000)
TRANSDUCER, CTC = "transducer_greedy_search", "ctc_greedy_search"
CASES = [
    *((kind, TRANSDUCER) for kind, parts in KINDS.items() if "durations" in parts),
    *((kind, CTC) for kind, parts in KINDS.items() if "has_ctc" in parts),
]
"""Modes in which the end of a segment chooses nothing; a beam keeps its best there."""


@dataclass(frozen=True)
class Heard:
    """Listeners of the clips: without segments, with them, and of the second clip alone."""

    whole: list
    divided: list
    alone: list


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}, {case[1][:4]}")
def heard(request, together) -> Iterator[Heard]:
    kind, mode = request.param
    config = EngineConfig(max_streams=len(CLIPS), max_utterance_ms=60_000, threads=1)
    engine = Engine(build_recognizer(random_nemo(kind), config), config)
    engine.start()
    chunks_ms = [each if each in engine.model.chunks_ms else None for each in CHUNKS_MS]
    never, quick = (
        [
            StreamConfig(mode, endpoint=endpoint, chunk_ms=each, language="en-US")
            for each in chunks_ms
        ]
        for endpoint in (NEVER, QUICK)
    )
    try:
        divided, alone = together(engine, CLIPS, quick), together(engine, CLIPS[1:2], quick[1:2])
        yield Heard(together(engine, CLIPS, never), divided, alone)
    finally:
        assert engine.stop(60)


def letters(listener) -> str:
    """All that was said, without spaces: none is between two segments."""
    return "".join(listener.text.split())


def words(finals: list[Final]) -> list[Word]:
    return [word for final in finals for word in final.alternatives[0].words]


def test_all_segments_say_what_the_stream_says_without_them(heard: Heard) -> None:
    assert [len(each.finals) for each in heard.whole] == [1] * len(CLIPS)
    assert [letters(each) for each in heard.divided] == [letters(each) for each in heard.whole]


def test_segments_end_in_all_ways(heard: Heard) -> None:
    assert sum(len(each.finals) for each in heard.divided) > 3 * len(CLIPS)
    causes = {final.cause for each in heard.divided for final in each.finals}
    assert causes == {"endpoint", "max_utterance", "end"}


def test_a_stream_says_the_same_alone(heard: Heard) -> None:
    assert spoken(heard.divided[1].finals) == spoken(heard.alone[0].finals)


def spoken(finals: list[Final]) -> list[tuple]:
    """Of each final, all but how sure it is, which a prompt has rounded otherwise in company."""
    return [
        (
            final.start_s,
            final.duration_s,
            final.cause,
            *((word.text, word.start_s, word.end_s) for word in words([final])),
        )
        for final in finals
    ]


def test_stable_words_are_never_taken_back(heard: Heard) -> None:
    promised = 0
    for listener in heard.divided:
        texts, told = [word.text for word in words(listener.finals)], 0
        for event in listener.events:
            if isinstance(event, Final):
                told += len(words([event]))
            elif isinstance(event, Partial):
                stable = event.alternatives[0].words[: event.stable_words]
                promised += len(stable)
                assert texts[told : told + len(stable)] == [word.text for word in stable]
    assert promised > 5


def test_finals_follow_each_other_and_hold_their_words(heard: Heard) -> None:
    for listener in heard.divided:
        end_s = 0.0
        for final in listener.finals:
            assert final.start_s > end_s - 1e-6
            assert final.duration_s >= 0
            end_s = final.start_s + final.duration_s
            for word in words([final]):
                assert final.start_s - 1e-6 < word.start_s <= word.end_s < end_s + 1e-6
        assert end_s == pytest.approx(SECONDS)
