"""Streams of NeMo's models on another device: no operation mixes it with the CPU."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from break_once import break_once
from random_nemo import SYMBOLS, babble, random_nemo

from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.device_loop_config import LoopMode
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.events import Closed
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig

CLIPS = [babble(2.5, seed) for seed in (3, 27)]
KINDS = ("chunks, tdt and ctc", "windows, rnnt and ctc")
ROOM = {"max_streams": len(CLIPS), "max_batch": len(CLIPS)}
ON_THE_HOST = {**ROOM, "options": {"transducer_loop": "cpu"}}
GREEDY = "transducer_greedy_search"
ON_THE_DEVICE = {**ROOM, "options": {"transducer_loop": "kernel"}}
QUICK = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)


def placed(kind: str, device: torch.device | str) -> LoadedModel:
    loaded = random_nemo(kind)
    return replace(loaded, model=deepcopy(loaded.model).to(device))


def heard(engine, mode: str, sounds, boosts: tuple[Boost, ...] = ()) -> list[str]:
    """The texts of streams in company that are flushed half way, and of those in their slots."""
    texts = []
    for _ in range(2):
        listeners = [sounds.Listener() for _ in CLIPS]
        for samples, listener in zip(CLIPS, listeners, strict=True):
            stream = engine.open(StreamConfig(mode, endpoint=QUICK, boosts=boosts), listener)
            stream.push(samples[:16_000])
            stream.finalize()
            stream.push(samples[16_000:])
            stream.finish()
        for listener in listeners:
            assert isinstance(last := listener.wait_for_last(), Closed), last
        texts += [listener.text for listener in listeners]
    return texts


@pytest.mark.parametrize("mode", ["ctc_greedy_search", "ctc_prefix_beam_search", GREEDY])
@pytest.mark.parametrize("kind", KINDS)
def test_streams_on_another_device_are_those_on_the_cpu(
    make_engine, emulated, sounds, kind: str, mode: str
) -> None:
    here, there = (
        heard(make_engine(placed(kind, device), **ON_THE_HOST), mode, sounds)
        for device in ("cpu", emulated)
    )
    assert any(here)
    assert there == here


@pytest.mark.emulated
@pytest.mark.parametrize("loop", [mode.value for mode in LoopMode])
@pytest.mark.parametrize("kind", KINDS)
def test_streams_that_the_device_walks_hear_what_they_hear_on_the_cpu(
    make_engine, emulator, sounds, kind: str, loop: str
) -> None:
    there = make_engine(placed(kind, emulator.device), **ROOM, options={"transducer_loop": loop})
    expected = heard(make_engine(placed(kind, "cpu"), **ON_THE_HOST), GREEDY, sounds)
    assert any(expected)
    assert heard(there, GREEDY, sounds) == expected


@pytest.mark.emulated
@pytest.mark.parametrize("kind", KINDS)
def test_boosts_of_streams_that_the_device_walks_are_those_on_the_cpu(
    make_engine, emulator, sounds, kind: str
) -> None:
    boosts = tuple(Boost(symbol, 8.0) for symbol in SYMBOLS[:3])
    on_the_cpu = make_engine(placed(kind, "cpu"), **ON_THE_HOST)
    there = make_engine(placed(kind, emulator.device), **ON_THE_DEVICE)
    here = heard(on_the_cpu, GREEDY, sounds, boosts)
    assert here != heard(on_the_cpu, GREEDY, sounds)
    assert heard(there, GREEDY, sounds, boosts) == here
    assert heard(there, GREEDY, sounds) == heard(on_the_cpu, GREEDY, sounds)


@pytest.mark.emulated
@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_that_the_device_refuses_once_changes_nothing(
    make_engine, emulator, sounds, monkeypatch, kind: str
) -> None:
    expected = heard(make_engine(placed(kind, "cpu"), **ON_THE_HOST), GREEDY, sounds)
    engine = make_engine(placed(kind, emulator.device), **ON_THE_DEVICE)
    calls = break_once(monkeypatch, DeviceLabelLoop, "run", 2)
    assert heard(engine, GREEDY, sounds) == expected
    assert len(calls) > 2
