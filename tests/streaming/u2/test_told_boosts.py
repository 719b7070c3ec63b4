"""A boosted word of a partial is in the final, with a transducer's beam over segments too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hand import Hand
from tone_transducer import KINDS, with_transducer

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Alternative
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig

DIGITS = "一二三四五六七八九"
BOOSTS = tuple(Boost(digit, 1.0) for digit in DIGITS[::2])
CONFIG = StreamConfig(endpoint=EndpointConfig(silence_ms=400))


def chords(sounds: Any, seed: int) -> np.ndarray:
    """Sounds of two digits at once, one of which grows louder while the other dies away."""
    drawn, parts = np.random.default_rng(seed), []
    for _ in range(16):
        one, other = (sounds.tone(DIGITS[at], 0.3) for at in drawn.choice(9, 2, replace=False))
        rising = np.linspace(*drawn.uniform(0.2, 0.8, 2), len(one))
        parts += [rising * one + (1 - rising) * other, sounds.noise(drawn.choice([0.1, 0.6]))]
    return np.concatenate(parts).astype(np.float32)


def boosted_part(told: Alternative) -> list[str]:
    """The words until the last boosted one."""
    last = max((at + 1 for at, word in enumerate(told.words) if word.boosted), default=0)
    return [word.text for word in told.words[:last]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_boosted_word_of_a_partial_is_in_the_final(
    tone_model: LoadedModel, sounds: Any, kind: str
) -> None:
    loaded = with_transducer(tone_model, kind)
    recognizer = build_recognizer(loaded, EngineConfig(max_streams=1, threads=1, chunk_size=2))
    told = 0
    for seed in range(4):
        hand = Hand(recognizer, mode="transducer_beam_search", boosts=BOOSTS, config=CONFIG)
        hand.hear(chords(sounds, seed))
        for said, _ in hand.told:
            words = [word.text for word in said.final[0].words]
            for _, partial in said.partials:
                told += len(boosted_part(partial))
                assert words[: len(boosted_part(partial))] == boosted_part(partial)
        with torch.inference_mode():
            recognizer.free(hand.stream)
    assert told > 50
