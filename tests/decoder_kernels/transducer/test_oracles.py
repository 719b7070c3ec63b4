"""The oracles: equal to NeMo's decoders, and to what the papers' rules give by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from nemo_golden import RNNT, TDT, TRANSDUCERS, GoldenReader, NemoGolden
from network_head import NetworkHead
from oracles import Found, Spoken, TableHead, begin, frame_looping, lock_step
from torch import Tensor

BLANK = 3
CHUNK = 5
CAPS = (10, 2)


def rnnt(best: dict[tuple[int, int], int]) -> TableHead:
    """An RNN-T that says `best[last label, frame]`, and else the blank."""
    return tdt({key: (label, 0) for key, label in best.items()}, ())


def tdt(best: dict[tuple[int, int], tuple[int, int]], durations: tuple[int, ...]) -> TableHead:
    """A TDT that says a label and the number of a duration, and else blank and the first one."""

    def table(last: int, frame: int) -> tuple[Tensor, Tensor]:
        label, duration = best.get((last, frame), (BLANK, 0))
        return one_hot(BLANK + 1, label), one_hot(len(durations), duration)

    return TableHead(BLANK, durations, table)


def one_hot(size: int, place: int) -> Tensor:
    return (torch.arange(size) == place).float()


def decode(head: TableHead, frames: int, max_symbols: int = 10) -> tuple[Found, Spoken]:
    return frame_looping(head, torch.arange(frames).unsqueeze(1), max_symbols)


@pytest.fixture(params=TRANSDUCERS)
def golden(request: pytest.FixtureRequest, nemo_golden: GoldenReader) -> NemoGolden:
    return nemo_golden(request.param)


def heard(golden: NemoGolden) -> tuple[NetworkHead, list[Tensor]]:
    """The golden model's head, and NeMo's own encoded frames projected for it."""
    network = golden.model.transducer
    return NetworkHead(network), [network.hear(row) for row in golden.rows("encoded")]


@pytest.mark.parametrize("cap", CAPS)
def test_frame_looping_finds_what_nemos_reference_does(golden: NemoGolden, cap: int) -> None:
    head, rows = heard(golden)
    wanted = golden.decoded["greedy"][f"max_symbols_{cap}"]["reference_single"]
    found = [frame_looping(head, row, cap)[0] for row in rows]
    assert [each.tokens for each in found] == [each["tokens"] for each in wanted]
    assert [each.frames for each in found] == [each["timestamps"] for each in wanted]
    assert [each.durations for each in found] == [each.get("durations", []) for each in wanted]


@pytest.mark.parametrize("cap", CAPS)
def test_chunks_find_what_the_whole_does(golden: NemoGolden, cap: int) -> None:
    head, rows = heard(golden)
    for row in rows:
        whole, _ = frame_looping(head, row, cap)
        assert in_chunks(head, row, cap) == whole


def in_chunks(head: NetworkHead, row: Tensor, cap: int) -> Found:
    spoken, joined = begin(head), Found()
    for chunk in row.split(CHUNK):
        found, spoken = frame_looping(head, chunk, cap, spoken)
        joined.tokens.extend(found.tokens)
        joined.frames.extend(found.frames)
        joined.durations.extend(found.durations)
        joined.log_probs.extend(found.log_probs)
    return joined


@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("name", RNNT)
def test_lock_step_finds_what_frame_looping_does(
    nemo_golden: GoldenReader, name: str, cap: int
) -> None:
    golden = nemo_golden(name)
    head, rows = heard(golden)
    assert lock_step(head, rows, cap) == [frame_looping(head, row, cap)[0] for row in rows]


@pytest.mark.parametrize("name", RNNT)
def test_an_rnnts_log_probabilities_add_up_to_nemos_score(
    nemo_golden: GoldenReader, name: str
) -> None:
    golden = nemo_golden(name)
    head, rows = heard(golden)
    wanted = golden.decoded["greedy"]["max_symbols_10"]["no_graphs"]
    found = [sum(frame_looping(head, row, 10)[0].log_probs) for row in rows]
    assert found == pytest.approx([each["score"] for each in wanted], abs=1e-3)


@pytest.mark.parametrize("name", TDT)
def test_graphs_of_nemo_find_the_same_durations(nemo_golden: GoldenReader, name: str) -> None:
    golden = nemo_golden(name)
    head, rows = heard(golden)
    wanted = golden.decoded["greedy"]["max_symbols_10"]["no_graphs"]
    found = [frame_looping(head, row, 10)[0].durations for row in rows]
    assert found == [each["durations"] for each in wanted]


def test_labels_stay_in_their_frame_until_the_blank() -> None:
    found, spoken = decode(rnnt({(BLANK, 1): 0, (0, 1): 2}), 3)
    assert (found.tokens, found.frames) == ([0, 2], [1, 1])
    assert (spoken.frames, spoken.ahead) == (3, 0)


def test_a_frame_is_left_after_so_many_labels() -> None:
    found, _ = decode(rnnt({(BLANK, 0): 0, (0, 0): 0, (0, 1): 1}), 2, max_symbols=2)
    assert (found.tokens, found.frames) == ([0, 0, 1], [0, 0, 1])


def test_a_duration_skips_frames_and_a_blank_of_none_skips_one() -> None:
    head = tdt({(BLANK, 1): (0, 1), (0, 2): (1, 1), (0, 3): (2, 0)}, (0, 2))
    found, _ = decode(head, 5)
    assert (found.tokens, found.frames, found.durations) == ([0, 2], [1, 3], [2, 0])


def test_a_duration_that_leaves_the_chunk_reaches_into_the_next() -> None:
    _, spoken = decode(tdt({(BLANK, 1): (0, 1)}, (0, 4)), 2)
    assert (spoken.frames, spoken.ahead) == (2, 3)


def test_a_duration_may_leave_a_whole_chunk_behind() -> None:
    head = tdt({(BLANK, 1): (0, 1)}, (0, 4))
    _, spoken = decode(head, 2)
    found, spoken = frame_looping(head, torch.zeros(2, 1), 10, spoken)
    assert (found.tokens, spoken.frames, spoken.ahead) == ([], 4, 1)


labels = st.integers(0, BLANK)
tables = st.dictionaries(st.tuples(labels, st.integers(0, 7)), st.tuples(labels, st.integers(0, 2)))


@given(tables, st.lists(st.integers(0, 4)), st.integers(1, 3))
def test_a_tdt_finds_the_same_however_its_frames_are_cut(
    table: dict[tuple[int, int], tuple[int, int]], cuts: list[int], cap: int
) -> None:
    head = tdt(table, (0, 1, 4))
    frames = torch.arange(sum(cuts)).remainder(8).unsqueeze(1)
    spoken, tokens, times = begin(head), [], []
    for chunk in frames.split(cuts):
        found, spoken = frame_looping(head, chunk, cap, spoken)
        tokens += found.tokens
        times += found.frames
    whole, at_end = frame_looping(head, frames, cap)
    assert (tokens, times) == (whole.tokens, whole.frames)
    assert (spoken.frames, spoken.ahead) == (at_end.frames, at_end.ahead)


rows_of_tables = st.lists(st.integers(0, 8), min_size=1, max_size=4)


@given(st.dictionaries(st.tuples(labels, st.integers(0, 7)), labels), rows_of_tables, labels)
def test_a_row_in_lock_step_finds_what_it_finds_alone(
    table: dict[tuple[int, int], int], lengths: list[int], cap: int
) -> None:
    head = rnnt(table)
    rows = [torch.arange(length).unsqueeze(1) for length in lengths]
    alone = [frame_looping(head, row, cap + 1)[0] for row in rows]
    assert lock_step(head, rows, cap + 1) == alone
