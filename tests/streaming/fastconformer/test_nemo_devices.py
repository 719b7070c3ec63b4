"""Streams of NeMo's models on another device: no operation mixes it with the CPU."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from random_nemo import babble, random_nemo

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.events import Closed
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

CLIPS = [babble(2.5, seed) for seed in (3, 27)]
QUICK = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)


def placed(kind: str, device: torch.device | str) -> LoadedModel:
    loaded = random_nemo(kind)
    return replace(loaded, model=deepcopy(loaded.model).to(device))


def heard(engine, mode: str, sounds) -> list[str]:
    """The texts of streams in company that are flushed half way, and of those in their slots."""
    texts = []
    for _ in range(2):
        listeners = [sounds.Listener() for _ in CLIPS]
        for samples, listener in zip(CLIPS, listeners, strict=True):
            stream = engine.open(StreamConfig(mode, endpoint=QUICK), listener)
            stream.push(samples[:16_000])
            stream.finalize()
            stream.push(samples[16_000:])
            stream.finish()
        for listener in listeners:
            assert isinstance(last := listener.wait_for_last(), Closed), last
        texts += [listener.text for listener in listeners]
    return texts


@pytest.mark.parametrize(
    "mode", ["ctc_greedy_search", "ctc_prefix_beam_search", "transducer_greedy_search"]
)
@pytest.mark.parametrize("kind", ["chunks, tdt and ctc", "windows, rnnt and ctc"])
def test_streams_on_another_device_are_those_on_the_cpu(
    make_engine, emulated, sounds, kind: str, mode: str
) -> None:
    here, there = (
        heard(make_engine(placed(kind, device), max_streams=len(CLIPS)), mode, sounds)
        for device in ("cpu", emulated)
    )
    assert any(here)
    assert there == here
