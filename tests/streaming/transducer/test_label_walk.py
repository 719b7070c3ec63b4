"""Many lanes' walks at once: each finds what the papers' plain loop does, and NeMo."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from nemo_golden import TDT, TRANSDUCERS, GoldenReader
from network_head import NetworkHead
from oracles import Found, frame_looping
from torch import Tensor

from earshot.models.transducer.config import TransducerConfig
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.transducer.label_walk import LabelWalk, Spoken
from earshot.streaming.transducer.transcript import NOTHING_FOUND, Transcript

SIZE = 6
CONFIG = TransducerConfig(
    vocab_size=5,
    encoder_size=SIZE,
    predictor_size=8,
    joint_size=16,
    activation="tanh",
    max_symbols=3,
)
CONFIGS = {
    "rnnt": CONFIG,
    "tdt": replace(CONFIG, predictor_layers=2, durations=(0, 1, 2, 5)),
}
SEEDS = {"rnnt": 1, "tdt": 7}
CHUNK = 5
CAPS = (10, 2)

lengths = st.lists(st.integers(0, 8), min_size=1, max_size=3)
sizes = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


def head_of(kind: str) -> Transducer:
    """One that changes its mind by frames and by what was said, and finds blanks too."""
    torch.manual_seed(SEEDS[kind])
    config = CONFIGS[kind]
    head = Transducer(config).eval()
    for parameter in head.parameters():
        parameter.data.normal_(0, 0.8)
    head.joint.output.bias.data[config.blank_id] += 1.5
    return head


HEADS = {kind: head_of(kind) for kind in CONFIGS}
kinds = st.sampled_from(sorted(HEADS))


def sound(frames: int, seed: int) -> Tensor:
    return torch.randn(frames, SIZE, generator=torch.Generator().manual_seed(seed))


def expected_of(head: Transducer, encoded: Tensor) -> Found:
    return frame_looping(NetworkHead(head), head.hear(encoded), head.config.max_symbols)[0]


def in_pieces(
    walk: LabelWalk, sounds: Sequence[Tensor], pieces: Sequence[int]
) -> list[tuple[Transcript, Spoken]]:
    """Each sound in chunks of these sizes, over and over; all lanes go on until the last ends.

    Every lane has other sizes than its neighbour.
    """
    found = [NOTHING_FOUND] * len(sounds)
    memory, left = [walk.begin()] * len(sounds), list(sounds)
    turn = 0
    while any(map(len, left)):
        taken = [pieces[(turn + lane) % len(pieces)] for lane in range(len(left))]
        chunks = [each[:size] for each, size in zip(left, taken, strict=True)]
        walked = walk(chunks, memory)
        memory = [each.after for each in walked]
        found = [old.then(each.transcript) for old, each in zip(found, walked, strict=True)]
        left = [each[size:] for each, size in zip(left, taken, strict=True)]
        turn += 1
    return list(zip(found, memory, strict=True))


def assert_found(found: Transcript, expected: Found, length: int) -> None:
    assert list(found.tokens) == expected.tokens
    assert list(found.frames) == expected.frames
    lasting = [end - at for end, at in zip(found.ends, found.frames, strict=True)]
    assert lasting == (expected.durations or [1] * len(expected.tokens))
    assert list(found.token_log_probs) == pytest.approx(expected.log_probs, abs=1e-5)
    assert found.length == length


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_the_heads_of_these_tests_say_labels_and_blanks(kind: str) -> None:
    expected = expected_of(HEADS[kind], sound(100, 0))
    assert 20 < len(set(expected.frames)) < 80
    assert {expected.frames.count(frame) for frame in expected.frames} == {1, 2, 3}
    assert len(set(expected.tokens)) == CONFIG.vocab_size
    assert set(expected.durations) == set(CONFIGS[kind].durations)


@given(kinds, lengths)
def test_lanes_find_what_the_papers_loop_does_alone(kind: str, frames: list[int]) -> None:
    head, sounds = HEADS[kind], [sound(count, seed) for seed, count in enumerate(frames)]
    walk = LabelWalk(head)
    for found, encoded in zip(walk(sounds, [walk.begin()] * len(sounds)), sounds, strict=True):
        assert_found(found.transcript, expected_of(head, encoded), len(encoded))


@given(kinds, lengths, sizes)
def test_lanes_in_chunks_find_what_the_whole_does(
    kind: str, frames: list[int], pieces: list[int]
) -> None:
    head, sounds = HEADS[kind], [sound(count, seed) for seed, count in enumerate(frames)]
    found = in_pieces(LabelWalk(head), sounds, pieces)
    for (transcript, _), encoded in zip(found, sounds, strict=True):
        assert_found(transcript, expected_of(head, encoded), len(encoded))


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_chunks_leave_the_memory_and_the_blanks_that_the_whole_does(kind: str) -> None:
    walk, sounds = LabelWalk(HEADS[kind]), [sound(40, 1), sound(17, 2)]
    whole = walk(sounds, [walk.begin()] * 2)
    for (found, spoken), expected in zip(in_pieces(walk, sounds, [3, 0, 1]), whole, strict=True):
        blanks = expected.transcript.blank_log_probs
        assert found.blank_log_probs == pytest.approx(blanks, abs=1e-5)
        for name in ("said", "hidden", "cell"):
            torch.testing.assert_close(getattr(spoken, name), getattr(expected.after, name))
        assert spoken.ahead == expected.after.ahead
        assert spoken.skipped_blank == pytest.approx(expected.after.skipped_blank, abs=1e-5)


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_the_memory_given_is_not_changed(kind: str) -> None:
    walk = LabelWalk(HEADS[kind])
    [before] = walk([sound(9, 0)], [walk.begin()])
    copies = [each.clone() for each in (before.after.said, before.after.hidden, before.after.cell)]
    [first] = walk([sound(9, 1)], [before.after])
    assert first.transcript.tokens
    kept = (before.after.said, before.after.hidden, before.after.cell)
    assert all(map(torch.equal, kept, copies))
    [again] = walk([sound(9, 1)], [before.after])
    assert again.transcript == first.transcript


def test_memory_holds_its_own_lane_alone() -> None:
    walk = LabelWalk(HEADS["rnnt"])
    found = walk([sound(3, seed) for seed in range(50)], [walk.begin()] * 50)
    for name, floats in (("said", 16), ("hidden", 8), ("cell", 8)):
        assert getattr(found[1].after, name).untyped_storage().nbytes() == 4 * floats


@pytest.mark.parametrize("kind", sorted(HEADS))
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_lane_that_is_not_finite_fails_the_step(kind: str, value: float) -> None:
    walk, bad = LabelWalk(HEADS[kind]), sound(6, 1)
    bad[0] = value
    with pytest.raises(DecodingFailed, match="not finite"):
        walk([sound(4, 0), bad], [walk.begin()] * 2)
    [good] = walk([sound(4, 0)], [walk.begin()])
    assert_found(good.transcript, expected_of(HEADS[kind], sound(4, 0)), 4)


@pytest.mark.parametrize("pieces", [[10_000], [CHUNK]], ids=["whole", "in chunks"])
@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("name", TRANSDUCERS)
def test_nemos_models_find_what_they_do_in_nemo(
    nemo_golden: GoldenReader,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    cap: int,
    pieces: list[int],
) -> None:
    golden = nemo_golden(name)
    head, rows = golden.model.transducer, golden.rows("encoded")
    monkeypatch.setattr(head, "config", replace(head.config, max_symbols=cap))
    wanted = golden.decoded["greedy"][f"max_symbols_{cap}"]["reference_single"]
    for (found, _), row, each in zip(
        in_pieces(LabelWalk(head), rows, pieces), rows, wanted, strict=True
    ):
        lasting = [end - at for end, at in zip(found.ends, found.frames, strict=True)]
        assert list(found.tokens) == each["tokens"]
        assert list(found.frames) == each["timestamps"]
        assert lasting == (each["durations"] if name in TDT else [1] * len(lasting))
        assert found.length == len(row)
