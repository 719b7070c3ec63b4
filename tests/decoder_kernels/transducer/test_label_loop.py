"""Label looping: every stream finds what the papers' plain loop does, and NeMo, in any company."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from label_heads import (
    CONFIG,
    CONFIGS,
    HEADS,
    SIZE,
    assert_found,
    expected_of,
    in_pieces,
    sound,
    whole,
)
from nemo_golden import TDT, TRANSDUCERS, GoldenReader
from table_network import BLANK, Table, numbers, table_network

from earshot.decoder_kernels.errors import InvalidInput
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.transducer.label_loop import NO_BLANK, LabelLoop
from earshot.decoder_kernels.transducer.loop_weights import LoopWeights
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import label_loop_of, loop_weights_of

CHUNK = 5
CAPS = (10, 2)
RNNT: tuple[int, ...] = ()

lengths = st.lists(st.integers(0, 8), min_size=1, max_size=14)
sizes = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)
labels = st.integers(0, BLANK)
places = st.tuples(labels, st.integers(0, 7))
tables = st.dictionaries(places, st.tuples(labels, st.integers(0, 2)))
kinds = st.sampled_from(sorted(HEADS))
kinds_of_durations = st.sampled_from([RNNT, (0, 1, 4), (2, 0, 3), (1, 2, 9)])


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_the_heads_of_these_tests_say_labels_and_blanks(kind: str) -> None:
    expected = expected_of(HEADS[kind], sound(100, 0))
    assert 20 < len(set(expected.frames)) < 80
    assert {expected.frames.count(frame) for frame in expected.frames} == {1, 2, 3}
    assert len(set(expected.tokens)) >= CONFIG.vocab_size
    assert set(expected.durations) == set(CONFIGS[kind].durations)


@pytest.mark.parametrize("processor", kernels.processors())
@pytest.mark.parametrize("kind", sorted(HEADS))
def test_every_processor_finds_what_the_papers_loop_does(kind: str, processor: str) -> None:
    head = HEADS[kind]
    loop = label_loop_of(head, processor=processor)
    for length in (0, 1, 5, 60):
        encoded = sound(length, length)
        assert_found(whole(loop, encoded), expected_of(head, encoded), length)


@given(kinds, lengths, sizes)
def test_lanes_in_chunks_find_what_the_papers_loop_does_alone(
    kind: str, frames: list[int], pieces: list[int]
) -> None:
    head, sounds = HEADS[kind], [sound(count, seed) for seed, count in enumerate(frames)]
    heard = in_pieces(label_loop_of(head), sounds, pieces)
    for found, encoded in zip(heard, sounds, strict=True):
        assert_found(found, expected_of(head, encoded), len(encoded))


@given(tables, kinds_of_durations, sizes, st.integers(1, 4))
def test_every_table_is_walked_as_the_papers_loop_walks_it(
    table: Table, durations: Sequence[int], pieces: list[int], cap: int
) -> None:
    head, encoded = table_network(table, durations, cap), numbers(17)
    [found] = in_pieces(label_loop_of(head), [encoded], pieces)
    assert_found(found, expected_of(head, encoded), len(encoded))


@pytest.mark.parametrize("processor", kernels.processors())
@pytest.mark.parametrize("kind", sorted(HEADS))
def test_a_lanes_bits_depend_on_nothing_but_itself(kind: str, processor: str) -> None:
    loop = label_loop_of(HEADS[kind], processor=processor)
    sounds = [sound(3 + seed % 11, seed) for seed in range(40)]
    alone = [whole(loop, encoded) for encoded in sounds]
    for company in (2, 7, 40):
        together = in_pieces(loop, sounds[:company], [14])
        assert [replace(each, memory=loop.begin()) for each in together] == [
            replace(each, memory=loop.begin()) for each in alone[:company]
        ]
        for each, own in zip(together, alone, strict=False):
            assert torch.equal(each.memory.numbers, own.memory.numbers)


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_threads_share_the_lanes_and_change_nothing(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    loop, begun = label_loop_of(HEADS[kind]), label_loop_of(HEADS[kind]).begin()
    sounds = [sound(20, seed) for seed in range(9)]
    results = []
    for threads in (1, 4):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        heard = in_pieces(loop, sounds, [3, 4])
        carried = [(each.memory.ahead, each.memory.numbers.tolist()) for each in heard]
        results.append(([replace(each, memory=begun) for each in heard], carried))
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_chunks_leave_the_memory_and_the_blanks_that_the_whole_does(kind: str) -> None:
    loop, sounds = label_loop_of(HEADS[kind]), [sound(40, 1), sound(17, 2)]
    expected = [whole(loop, encoded) for encoded in sounds]
    for found, wanted in zip(in_pieces(loop, sounds, [3, 0, 1]), expected, strict=True):
        assert found.blank_log_probs == wanted.blank_log_probs
        assert torch.equal(found.memory.numbers, wanted.memory.numbers)
        assert found.memory.ahead == wanted.memory.ahead


def test_a_vocabulary_too_large_for_a_table_of_gates_has_its_embeddings_multiplied() -> None:
    config = replace(CONFIG, vocab_size=33_000, predictor_size=64)
    torch.manual_seed(0)
    head = Transducer(config).eval()
    head.joint.output.bias.data[config.blank_id] += 1.0
    encoded = 3 * sound(12, 5)
    expected = expected_of(head, encoded)
    assert len(expected.tokens) > 5
    loop = LabelLoop(with_wider_embeddings(loop_weights_of(head)))
    assert_found(whole(loop, encoded), expected, len(encoded))


def with_wider_embeddings(weights: LoopWeights) -> LoopWeights:
    """The same network, whose embeddings have numbers besides that nothing listens to."""
    (heard, bias), kept = weights.lstm[0]
    wider = torch.cat((weights.embedding, torch.ones_like(weights.embedding)), dim=1)
    deaf = torch.cat((heard, torch.zeros_like(heard)), dim=1)
    return replace(weights, embedding=wider, lstm=[((deaf, bias), kept), *weights.lstm[1:]])


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_embeddings_may_be_wider_than_layers(kind: str) -> None:
    encoded = sound(30, 2)
    loop = LabelLoop(with_wider_embeddings(loop_weights_of(HEADS[kind])))
    assert_found(whole(loop, encoded), expected_of(HEADS[kind], encoded), len(encoded))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float64])
def test_chunks_of_another_type_are_converted(kind: torch.dtype) -> None:
    loop, encoded = label_loop_of(HEADS["tdt"]), sound(20, 3).to(torch.bfloat16)
    [found] = loop([encoded.to(kind)], [loop.begin()])
    [wanted] = loop([encoded.float()], [loop.begin()])
    assert found is not None
    assert wanted is not None
    assert found.tokens == wanted.tokens != []
    assert found.log_probs == wanted.log_probs


@pytest.mark.parametrize("kind", sorted(HEADS))
def test_the_memory_given_is_not_changed(kind: str) -> None:
    loop = label_loop_of(HEADS[kind])
    before = whole(loop, sound(9, 0)).memory
    copy = before.numbers.clone()
    [first], [again] = (loop([sound(9, 1)], [before]) for _ in range(2))
    assert first is not None
    assert again is not None
    assert first.tokens == again.tokens != []
    assert torch.equal(before.numbers, copy)


def test_memory_holds_its_own_lane_alone() -> None:
    loop = label_loop_of(HEADS["rnnt"])
    found = loop([sound(3, seed) for seed in range(50)], [loop.begin()] * 50)
    alone = loop.begin().numbers.untyped_storage().nbytes()
    assert found[1] is not None
    assert found[1].after.numbers.untyped_storage().nbytes() == alone


@pytest.mark.parametrize("kind", sorted(HEADS))
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_lane_that_is_not_finite_is_left_out_alone(kind: str, value: float) -> None:
    loop, bad = label_loop_of(HEADS[kind]), sound(6, 1)
    bad[3] = value
    good = [sound(4, seed) for seed in range(8)]
    found = loop([*good[:4], bad, *good[4:]], [loop.begin()] * 9)
    assert [each is None for each in found] == [False] * 4 + [True] + [False] * 4
    told = [each.tokens for each in found if each is not None]
    assert told == [expected_of(HEADS[kind], encoded).tokens for encoded in good]


def test_weights_of_durations_that_are_not_finite_are_noticed() -> None:
    head = table_network({}, (0, 1))
    head.joint.output.bias[-2:] = float("nan")
    loop = label_loop_of(head)
    assert loop([numbers(3)], [loop.begin()]) == [None]


@pytest.mark.parametrize("shape", [(4,), (2, SIZE + 1), (2, 2, SIZE)])
def test_chunks_of_another_size_are_refused(shape: tuple[int, ...]) -> None:
    loop = label_loop_of(HEADS["rnnt"])
    with pytest.raises(InvalidInput, match="chunks must be"):
        loop([sound(2, 0), torch.zeros(shape)], [loop.begin()] * 2)


def test_nobody_says_nothing() -> None:
    assert label_loop_of(HEADS["rnnt"])([], []) == []


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
    for found, row, each in zip(
        in_pieces(label_loop_of(head), rows, pieces), rows, wanted, strict=True
    ):
        assert found.tokens == each["tokens"]
        assert found.frames == each["timestamps"]
        assert found.durations == (each["durations"] if name in TDT else [1] * len(found.tokens))
        assert len(found.blank_log_probs) == len(row)


def blank_log_prob(last: int, number: int) -> float:
    """The blank's in a table where it is the best."""
    sure = torch.zeros(BLANK + 1)
    sure[BLANK] = 2.0 + last + number / 8
    return float(sure.log_softmax(-1)[BLANK])


def blanks_of(table: Table, durations: Sequence[int], pieces: Sequence[int]) -> list[float]:
    loop = label_loop_of(table_network(table, durations, cap=2))
    [heard] = in_pieces(loop, [numbers(sum(pieces))], pieces)
    return heard.blank_log_probs


def test_a_blank_counts_for_all_frames_that_it_passes() -> None:
    table = {(BLANK, 1): (BLANK, 1), (BLANK, 4): (1, 1), (1, 7): (BLANK, 1)}
    first, second = blank_log_prob(BLANK, 0), blank_log_prob(BLANK, 1)
    expected = [first, *[second] * 3, *[NO_BLANK] * 3, blank_log_prob(1, 7)]
    assert blanks_of(table, (0, 3), [8]) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("label", [1, BLANK])
def test_what_passes_a_chunks_end_passes_the_next_ones_frames(label: int) -> None:
    passing = NO_BLANK if label != BLANK else blank_log_prob(BLANK, 1)
    expected = [blank_log_prob(BLANK, 0), *[passing] * 7, blank_log_prob(label, 0)]
    found = blanks_of({(BLANK, 1): (label, 1)}, (0, 7), [2, 3, 4])
    assert found == pytest.approx(expected, abs=1e-4)


def test_an_rnnts_frame_is_passed_by_the_blank_after_its_labels() -> None:
    table = {(BLANK, 1): (0, 0), (0, 2): (2, 0)}
    expected = [blank_log_prob(BLANK, 0), blank_log_prob(0, 1), blank_log_prob(2, 2)]
    assert blanks_of(table, RNNT, [3]) == pytest.approx(expected, abs=1e-4)


def test_labels_that_fill_a_frame_pass_it() -> None:
    found = blanks_of({(BLANK, 0): (0, 0), (0, 0): (0, 0)}, RNNT, [2])
    assert found == pytest.approx([NO_BLANK, blank_log_prob(0, 1)], abs=1e-4)
