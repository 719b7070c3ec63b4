"""Cuts against latency, from pauses that are known."""

from dataclasses import replace

import numpy as np
import torch

from benchmarks.turns.pauses import cells, rows
from earshot.models.turns.turn_head import STRETCHES, TurnHead
from earshot.models.turns.turn_rule import TurnRule
from earshot.training.turns.turn_fit import HeardPause

SHAPE = (len(STRETCHES), 2)
CORPUS = "coffee"


def pause(end: float, length_ms: float, sound: float = 0.0, *, is_end: bool) -> HeardPause:
    heard = torch.zeros(SHAPE)
    heard[0, 0] = sound
    return HeardPause(CORPUS, heard, end, length_ms, is_end)


def listening_head() -> TurnHead:
    weights = torch.zeros(SHAPE)
    weights[0, 0] = 1
    return TurnHead(weights, torch.zeros(SHAPE), TurnRule())


INSIDE = [pause(-6.0, length, -9.0, is_end=False) for length in (200.0, 400.0, 600.0, 1100.0)]
ENDS = [pause(-0.5, 3000.0, is_end=True), pause(-8.0, 3000.0, 9.0, is_end=True)]


def test_a_silence_cuts_what_is_longer() -> None:
    assert cells([*INSIDE, *ENDS], np.full(6, 500.0)) == ["50.0", "500 / 500"]


def test_the_page_tells_words_from_words_and_sound() -> None:
    lines = {row[0]: row[1:3] for row in rows([([*INSIDE, *ENDS], listening_head())], [CORPUS])}
    assert lines["words, `eot_threshold=0.5`"] != lines["and sound, `eot_threshold=0.5`"]
    assert lines["and sound, `eot_threshold=0.5`"] == ["0.0", "300 / 300"]


def test_each_part_is_judged_by_its_own_head() -> None:
    deaf = replace(listening_head(), weights=torch.zeros(SHAPE))
    both = rows([([*INSIDE, *ENDS], listening_head()), ([*INSIDE, *ENDS], deaf)], [CORPUS])
    alone = rows([([*INSIDE, *ENDS], listening_head())], [CORPUS])
    cuts = {row[0]: float(row[1]) for row in both}, {row[0]: float(row[1]) for row in alone}
    name = "and sound, `eot_threshold=0.5`"
    assert cuts[0][name] == (cuts[1][name] + cuts[0]["words, `eot_threshold=0.5`"]) / 2
