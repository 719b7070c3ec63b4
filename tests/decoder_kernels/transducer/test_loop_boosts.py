"""Boosts in label looping: they choose among labels, and never between a label and the blank."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from boost_walk import BoostWalk
from hypothesis import given
from hypothesis import strategies as st
from network_head import NetworkHead
from oracles import Found, Spoken, frame_looping
from table_network import BLANK, numbers, table_network
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.errors import BoostTableError, CapacityExceeded
from earshot.decoder_kernels.transducer.label_loop import LabelLoop, LoopMemory
from earshot.decoder_kernels.transducer.placed_boosts import NO_TABLE
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig
from earshot.streaming.transducer.native_loop import label_loop_of

SIZE = 5
LABELS = 6
STATES = 200

phrases = st.lists(
    st.builds(
        BoostPhrase,
        st.lists(st.integers(0, LABELS - 1), min_size=1, max_size=4).map(tuple),
        st.sampled_from([-3.0, -0.5, 0.25, 1.0, 2.5, 20.0]),
    ),
    max_size=6,
)
cuts = st.lists(st.integers(0, 9), min_size=1, max_size=4)


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def random_head(durations: tuple[int, ...]) -> Transducer:
    torch.manual_seed(5)
    config = TransducerConfig(LABELS, SIZE, 8, 16, durations=durations, max_symbols=3)
    head = Transducer(config).eval()
    for parameter in head.parameters():
        parameter.data.normal_(0, 0.6)
    head.joint.output.bias.data[LABELS] += 1.0
    return head


HEADS = [random_head(()), random_head((0, 1, 3))]


def table_of(*boosted: tuple[tuple[int, ...], float], **options: Any) -> BoostTable:
    found = [BoostPhrase(tokens, weight) for tokens, weight in boosted]
    return BoostTable.compile(found, LABELS, **options)


def expected_of(
    head: Transducer, encoded: Tensor, table: BoostTable | None, before: Spoken | None = None
) -> tuple[Found, Spoken]:
    heard, cap = head.hear(encoded), head.config.max_symbols
    return frame_looping(NetworkHead(head), heard, cap, before, BoostWalk(table))


def walked(
    loop: LabelLoop, chunks: Sequence[Tensor], memory: LoopMemory | None = None, slot: int = 0
) -> tuple[list[int], list[float], LoopMemory]:
    tokens, log_probs, spoken = [], [], memory or loop.begin()
    for chunk in chunks:
        [found] = loop([chunk], [spoken], [slot])
        assert found is not None
        tokens += found.tokens
        log_probs += found.log_probs
        spoken = found.after
    return tokens, log_probs, spoken


@given(st.sampled_from(HEADS), phrases, st.booleans(), cuts, st.integers(0, 9))
def test_boosted_labels_are_those_of_the_plain_loop(
    head: Transducer, boosted: list[BoostPhrase], holds: bool, pieces: list[int], seed: int
) -> None:
    encoded = torch.randn(sum(pieces), SIZE, generator=torch.Generator().manual_seed(seed))
    table = BoostTable.compile(boosted, LABELS, hold_completed=holds)
    loop = label_loop_of(head, num_slots=1, boost_capacity=STATES)
    loop.set_boost(0, table)
    tokens, log_probs, after = walked(loop, encoded.split(pieces))
    expected, spoken = expected_of(head, encoded, table)
    assert tokens == expected.tokens
    assert log_probs == pytest.approx(expected.log_probs, abs=1e-5)
    assert after.boost_state == spoken.boost_state


def three_ways(*logits: float) -> Transducer:
    """In every frame the labels and the blank are as likely as that, whatever was said."""
    head = table_network({}, cap=1)
    head.joint.output.weight[:] = 0.0
    head.joint.output.bias[:] = torch.tensor(logits)
    return head


def heard(head: Transducer, frames: int, *boosted: tuple[tuple[int, ...], float]) -> list[int]:
    loop = label_loop_of(head, num_slots=1, boost_capacity=STATES)
    loop.set_boost(0, table_of(*boosted))
    return walked(loop, [numbers(frames)])[0]


def test_no_boost_makes_a_label_of_a_blank() -> None:
    assert heard(three_ways(2.0, 1.0, 0.0, 2.1), 3, ((1,), 20.0)) == []


def test_no_boost_makes_a_blank_of_a_label() -> None:
    assert heard(three_ways(2.0, 1.0, 0.0, 1.9), 3, ((0,), -20.0)) == [1, 1, 1]


def test_a_label_as_likely_as_the_blank_is_said() -> None:
    assert heard(three_ways(2.0, 1.0, 0.0, 2.0), 2) == [0, 0]


@pytest.mark.parametrize(
    ("logits", "phrase"),
    [((2.0, 1.0, 0.0), (1,)), ((1.0, 2.0, 0.0), (0,)), ((1.5, 2.5, 2.5), (0,))],
)
def test_of_labels_that_score_the_same_the_first_is_said(
    logits: tuple[float, ...], phrase: tuple[int, ...]
) -> None:
    assert heard(three_ways(*logits, 0.5), 1, (phrase, 1.0)) == [0]


def test_of_labels_that_score_the_same_on_two_arcs_the_first_is_said() -> None:
    """Also where the phrase under way is looked up before it."""
    head = three_ways(1.0, 1.5, 1.5, 0.5)
    assert heard(head, 1, ((1,), 1.5), ((2,), 1.5)) == [1]
    loop = label_loop_of(head, num_slots=1, boost_capacity=STATES)
    table = table_of(((0, 2), 1.0), ((1,), 2.0))
    loop.set_boost(0, table)
    under_way = table.links[0].tolist().index(0, 1)  # behind the root
    memory = LoopMemory(loop.begin().numbers, boost_state=under_way, boosts=table.fingerprint)
    assert walked(loop, [numbers(1)], memory)[0] == [1]


def test_a_phrase_is_followed_as_far_as_its_bonus_leads() -> None:
    head = three_ways(2.0, 1.0, 0.0, 0.5)
    assert heard(head, 6, ((1, 2), 2.5)) == [1, 2] * 3
    assert heard(head, 6, ((1, 2), 0.9)) == [0] * 6


def test_a_phrase_under_way_is_given_up_for_a_better_label() -> None:
    """Its bonus is lost to every other label alike, so that they keep their order."""
    table = {(BLANK, 0): (0, 0), (0, 1): (2, 0), (2, 2): (1, 0)}
    head = table_network(table, cap=1)
    assert heard(head, 3, ((0, 1), 1.0)) == [0, 2, 1]


def test_the_confidence_of_a_boosted_label_is_the_networks_own() -> None:
    head = three_ways(2.0, 1.0, 0.0, 0.5)
    loop = label_loop_of(head, num_slots=1, boost_capacity=STATES)
    loop.set_boost(0, table_of(((1,), 5.0)))
    _, log_probs, _ = walked(loop, [numbers(1)])
    expected = torch.tensor([2.0, 1.0, 0.0, 0.5]).log_softmax(-1)[1]
    assert log_probs == pytest.approx([float(expected)], abs=1e-6)


def test_each_stream_has_its_own_boosts() -> None:
    loop = label_loop_of(three_ways(2.0, 1.0, 0.0, 0.5), num_slots=3, boost_capacity=STATES)
    loop.set_boost(2, table_of(((1,), 5.0)))
    loop.set_boost(0, table_of(((2,), 5.0)))
    found = loop([numbers(1)] * 3, [loop.begin()] * 3, [2, 1, 0])
    assert [each.tokens for each in found if each is not None] == [[1], [0], [2]]


def test_a_table_that_is_taken_away_boosts_no_more() -> None:
    loop = label_loop_of(three_ways(2.0, 1.0, 0.0, 0.5), num_slots=1, boost_capacity=STATES)
    loop.set_boost(0, table_of(((1,), 5.0)))
    tokens, _, memory = walked(loop, [numbers(1)])
    loop.set_boost(0, None)
    assert tokens + walked(loop, [numbers(1)], memory)[0] == [1, 0]


@pytest.mark.parametrize("state", [2, 150])
def test_a_state_that_the_table_does_not_have_is_the_root(state: int) -> None:
    loop = label_loop_of(three_ways(2.0, 1.0, 0.0, 0.5), num_slots=1, boost_capacity=STATES)
    table = table_of(((1,), 5.0))
    assert table.num_states == 2
    loop.set_boost(0, table)
    memory = LoopMemory(loop.begin().numbers, boost_state=state, boosts=table.fingerprint)
    assert walked(loop, [numbers(0)], memory)[2].boost_state == 0
    assert walked(loop, [numbers(1)], memory)[0] == [1]


@pytest.mark.parametrize("state", [1, 2])
def test_a_state_of_another_table_is_the_root(state: int) -> None:
    """One that the slot's table has as well, where it stands for something else."""
    loop = label_loop_of(three_ways(2.0, 1.0, 0.0, 0.5), num_slots=1, boost_capacity=STATES)
    loop.set_boost(0, table_of(((0, 1), 0.6)))
    other = table_of(((2, 1), 0.6)).fingerprint
    for boosts in (other, NO_TABLE.fingerprint):
        memory = LoopMemory(loop.begin().numbers, boost_state=state, boosts=boosts)
        assert walked(loop, [numbers(0)], memory)[2].boost_state == 0


def test_a_phrase_goes_on_where_the_same_table_is_set_again() -> None:
    loop = label_loop_of(three_ways(2.0, 1.0, 0.0, 0.5), num_slots=2, boost_capacity=STATES)
    loop.set_boost(0, table_of(((0, 1), 2.5)))
    _, _, memory = walked(loop, [numbers(1)])
    assert memory.boost_state != 0
    for slot in range(2):
        loop.set_boost(slot, table_of(((0, 1), 2.5)))
        assert walked(loop, [numbers(1)], memory, slot)[0] == [1]


def test_tables_that_do_not_fit_are_refused_and_leave_none() -> None:
    loop = label_loop_of(three_ways(2.0, 1.0, 0.0, 0.5), num_slots=1, boost_capacity=2)
    loop.set_boost(0, table_of(((1,), 5.0)))
    with pytest.raises(CapacityExceeded, match="3 states"):
        loop.set_boost(0, table_of(((1, 2), 5.0)))
    assert walked(loop, [numbers(1)])[0] == [0]


def test_tokens_outside_the_labels_are_refused() -> None:
    loop = label_loop_of(three_ways(2.0, 1.0, 0.0, 0.5), num_slots=1, boost_capacity=STATES)
    with pytest.raises(BoostTableError, match="outside the 3"):
        loop.set_boost(0, table_of(((BLANK,), 5.0)))
