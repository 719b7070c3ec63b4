"""Arms are compared before they are timed, and take turns."""

from __future__ import annotations

from itertools import count

import pytest
import torch
from torch import nn

from benchmarks.transducer.decoding import Batch, Labels
from benchmarks.transducer.encoder_cost import EncoderCost
from benchmarks.transducer.timed_arms import Arm, evaluations, measure
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig

BATCH = Batch(torch.zeros(3, 10, 1), [10, 5, 5], 5.0)


def said(*tokens: int):
    """A decoder that says one of the tokens in each utterance."""
    return lambda batch: [Labels([tokens[row]], [0]) for row in range(len(batch.lengths))]


def steps(step_s: float):
    """A clock that goes on by so much whenever it is asked."""
    ticks = count()
    return lambda: next(ticks) * step_s


def test_arms_that_agree_have_a_time_for_what_they_decode() -> None:
    arms = [Arm("few", said(1, 2), most=2), Arm("all", said(1, 2, 3)), Arm("more", said(1, 2, 3))]
    times, labels = measure(arms, BATCH, 12.0, steps(1.0))
    assert [each.tokens for each in labels] == [[1], [2], [3]]
    assert times["few"].rtfx == 3.0
    assert times["all"].rtfx == 4.0
    assert [time.differing for time in times.values()] == [0, 0, 0]


def test_arms_take_turns_until_their_time_is_up() -> None:
    turns = []
    arms = [
        Arm(name, lambda batch, name=name: turns.append(name) or said(1, 2, 3)(batch))
        for name in "ab"
    ]
    measure(arms, BATCH, 6.0, steps(1.0))
    assert "".join(turns) == "ababab"


@pytest.mark.parametrize("most", [None, 2])
def test_an_arm_that_finds_something_else_ends_it(most: int | None) -> None:
    arms = [Arm("a", said(1, 2, 3), most), Arm("b", said(1, 2, 3)), Arm("c", said(1, 2, 4))]
    with pytest.raises(SystemExit, match=r"c: 33\.3%"):
        measure(arms, BATCH, 0.0, steps(1.0))


def test_an_arm_of_other_weights_is_not_compared() -> None:
    arms = [Arm("a", said(1, 2, 3)), Arm("b", said(7, 7, 7), is_other=True)]
    assert measure(arms, BATCH, 0.0, steps(1.0))[1] == said(1, 2, 3)(BATCH)


def test_evaluations_count_rows_and_not_calls() -> None:
    joint = nn.Linear(1, 4)

    def decode(batch: Batch) -> list[Labels]:
        joint(batch.frames[:, 0])
        joint(batch.frames)
        return []

    arm = Arm("a", decode)
    assert evaluations(joint, arm, BATCH) == 3 + 30


def test_an_encoder_costs_seconds_of_one_stream() -> None:
    config = FastConformerConfig(
        80, 16, 1, 2, 16, 4, causal_stem=True, causal_convolution=True, normalise="none",
        contexts=(AttentionContext(4, 1),), context_style="chunked_limited",
    )  # fmt: skip
    with torch.inference_mode():
        assert EncoderCost(config)(5, steps(0.8)) == pytest.approx(0.8 / (5 * 0.16))
