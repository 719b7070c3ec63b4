"""Label looping under fire for a while, its fast oracle, and faults that the trial must notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import hostile_inputs
import pytest
import torch
from boost_walk import BoostWalk
from label_trial import LabelTrial
from oracles import Spoken, TableHead, begin, frame_looping
from table_oracle import NO_BOOSTS, TableOracle, random_table, weights_of

from earshot.decoder_kernels.errors import BoostTableError
from earshot.decoder_kernels.transducer.label_loop import LabelLoop, WalkedChunk

Spoil = Callable[[WalkedChunk], WalkedChunk]


def done(seed: int, steps: int) -> Counter[str]:
    trial = LabelTrial(Random(seed))
    outcomes = [trial.step() for _ in range(steps)]
    return sum((Counter({each.what: each.done}) for each in outcomes), Counter())


def test_streams_in_any_company_are_what_the_oracle_says() -> None:
    counts = sum((done(seed, 60) for seed in range(20)), Counter())
    assert set(counts) == {"walk", "leave", "reset", "boost", "keep", "set back"}
    assert counts["walk"] > 2_000


def drawn_boosts(dice: Random, blank: int) -> BoostWalk:
    try:
        return BoostWalk(hostile_inputs.token_table(dice, blank, blank))
    except BoostTableError:
        return NO_BOOSTS


@pytest.mark.parametrize("seed", range(60))
def test_the_fast_oracle_is_the_plain_loop(seed: int) -> None:
    dice = Random(seed)
    table = random_table(dice)
    oracle = TableOracle(table, LabelLoop(weights_of(table)))
    head = head_of(oracle, table.durations, table.duration_frames)
    boosts = drawn_boosts(dice, table.blank)
    spoken, remembered, frames = begin(head), oracle.begin(), 0
    for length in dice.choices((0, 1, 2, 7, 20), k=6):
        heard = [dice.randrange(table.numbers) for _ in range(length)]
        chunk = torch.tensor(heard).reshape(-1, 1)
        wanted, spoken = frame_looping(head, chunk, table.max_symbols, spoken, boosts)
        found = oracle.walk(heard, remembered, boosts)
        assert found is not None
        remembered = found.after
        assert found.tokens == wanted.tokens
        assert [frames + frame for frame in found.frames] == wanted.frames
        assert found.durations == (wanted.durations or [1] * len(found.tokens))
        assert found.log_probs == pytest.approx(wanted.log_probs, abs=1e-5)
        assert_remembered_alike(remembered, spoken)
        frames += length


def head_of(oracle: TableOracle, durations: Any, duration_frames: Sequence[int]) -> TableHead:
    def row(last: int, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor(oracle.logits[last][number]), torch.tensor(durations[last, number])

    return TableHead(len(oracle.logits) - 1, duration_frames, row)


def assert_remembered_alike(remembered: Any, spoken: Spoken) -> None:
    assert remembered.last == int(spoken.said)
    assert (remembered.ahead, remembered.boost_state) == (spoken.ahead, spoken.boost_state)


SPOILS: dict[str, Spoil] = {
    "other labels": lambda walked: replace(walked, tokens=[*walked.tokens, 0]),
    "labels in other frames": lambda walked: replace(walked, frames=[9, *walked.frames[1:]]),
    "other durations": lambda walked: replace(walked, durations=[99] * len(walked.durations)),
    "another frame": lambda walked: replace(walked, after=replace(walked.after, ahead=77)),
    "another phrase": lambda walked: replace(walked, after=replace(walked.after, boost_state=77)),
    "labels are": lambda walked: replace(walked, log_probs=[0.5] * len(walked.log_probs)),
    "blanks are": lambda walked: replace(
        walked, blank_log_probs=[0.5] * len(walked.blank_log_probs)
    ),
}


def done_by_several() -> None:
    """Some tables hold few labels."""
    for seed in range(5):
        done(seed, 60)


@pytest.mark.parametrize("said", sorted(SPOILS))
def test_a_walk_that_is_another_is_noticed(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    whole = LabelLoop.__call__

    def spoilt(self: LabelLoop, *asked: Any) -> list[WalkedChunk | None]:
        return [each and SPOILS[said](each) for each in whole(self, *asked)]

    monkeypatch.setattr(LabelLoop, "__call__", spoilt)
    with pytest.raises(AssertionError, match=said):
        done_by_several()


def test_a_lane_that_is_left_out_for_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelLoop, "__call__", lambda self, chunks, *_: [None] * len(chunks))
    with pytest.raises(AssertionError, match="another lane is not finite"):
        done(3, 10)
