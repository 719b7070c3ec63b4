"""Streams come and go in any order over a few slots: each hears what it hears alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from random_nemo import babble, random_nemo

from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.stream import Stream
from earshot.streaming.events import Closed, Final
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

KINDS = ("chunks, tdt and ctc", "windows, rnnt and ctc")
SLOTS, VISITS, SEED = 4, 40, 1
OVER = object()
CLIPS = [babble(seconds, seed) for seed, seconds in enumerate((0.02, 0.3, 0.7, 1.1, 1.6), 3)]
ENDPOINT = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
PIECE = 1700


@dataclass(frozen=True)
class Visit:
    """A stream of some clips with a flush after each, or with none after the last."""

    clips: tuple[int, ...]
    config: StreamConfig
    priority: StreamPriority
    is_cancelled: bool

    @classmethod
    def drawn(cls, chance: Random, engine: Engine) -> Visit:
        config = StreamConfig(
            chance.choice(engine.model.modes),
            endpoint=ENDPOINT,
            chunk_ms=chance.choice((None, *engine.model.chunks_ms[1:])),
            interim_results=chance.random() < 0.5,
        )
        clips = tuple(chance.choices(range(len(CLIPS)), k=chance.randint(1, 3)))
        return cls(clips, config, chance.choice(list(StreamPriority)), chance.random() < 0.3)

    def asks(self, stream: Stream) -> Iterator[None]:
        """Ask the stream for one thing after the other."""
        for number, clip in enumerate(self.clips):
            for piece in np.array_split(CLIPS[clip], len(CLIPS[clip]) // PIECE + 1):
                yield stream.push(piece)
            if number < len(self.clips) - 1:
                yield stream.finalize()
        stream.cancel() if self.is_cancelled else stream.finish()


def comes_and_goes(engine: Engine, sounds) -> list[tuple[Visit, object]]:
    """Visits that began whenever there was a slot, and are over, with their listeners."""
    chance, going, found = Random(SEED), [], []
    while going or len(found) < VISITS:
        if len(going) < SLOTS and len(found) < VISITS and chance.random() < 0.5:
            visit, listener = Visit.drawn(chance, engine), sounds.Listener()
            stream = engine.open(visit.config, listener, visit.priority)
            going.append((visit.asks(stream), listener))
            found.append((visit, listener))
        if going:
            asks, listener = asked = chance.choice(going)
            if next(asks, OVER) is OVER:
                assert isinstance(listener.wait_for_last(), Closed)
                going.remove(asked)
    return found


def texts(finals: list[Final]) -> list[str]:
    """What was said up to each flush."""
    said = [""]
    for final in finals:
        said[-1] += final.alternatives[0].text
        said += [""] if final.cause in ("finalize", "end") else []
    return said


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_comes_into_a_slot_hears_what_it_hears_alone(make_engine, sounds, kind) -> None:
    engine = make_engine(random_nemo(kind), max_streams=SLOTS, max_batch=3)

    alone: dict[str, str] = {}
    for visit, listener in comes_and_goes(engine, sounds):
        whole = []
        for clip in visit.clips:
            if (key := f"{clip}, {visit.priority}, {visit.config}") not in alone:
                heard = sounds.transcribe(
                    engine, CLIPS[clip], visit.config, priority=visit.priority
                )
                alone[key] = heard.text
            whole.append(alone[key])
        found = texts(listener.finals)
        if visit.is_cancelled:  # it may have got anywhere by then
            assert found[:-1] == whole[: len(found) - 1]
            assert whole[len(found) - 1].startswith(found[-1])
        else:
            assert found == [*whole, ""]
    assert len(set(alone.values())) > 10
    assert engine.stats.failed_streams == 0
    assert engine.stats.live_streams == engine.stats.file_streams == 0


@pytest.mark.parametrize("priority", list(StreamPriority))
@pytest.mark.parametrize("kind", ["chunks, rnnt", "windows, tdt", "windows, ctc", *KINDS])
def test_a_stream_tells_alone_what_it_tells_in_company_to_the_bit(
    make_engine, together, kind: str, priority: StreamPriority
) -> None:
    clips = [babble(seconds, seed) for seconds, seed in ((4.5, 3), (3.1, 22), (0.9, 37), (5.2, 5))]
    engine = make_engine(random_nemo(kind), max_streams=len(clips))
    sizes, modes = engine.model.chunks_ms, engine.model.modes
    configs = [
        StreamConfig(modes[i % len(modes)], endpoint=ENDPOINT, chunk_ms=sizes[i % len(sizes)])
        for i in range(len(clips))
    ]
    company = together(engine, clips, configs, priority)
    for clip, config, listener in zip(clips, configs, company, strict=True):
        [alone] = together(engine, [clip], [config], priority)
        assert alone.events == listener.events
    assert any(listener.finals for listener in company)
