"""The beam's oracle: equal to NeMo's MALSD, and to what its rules give by hand."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from arpa_walk import ArpaWalk
from beam_oracle import BeamRules, Said, beam_search, begin, ranked
from nemo_golden import GoldenReader
from network_head import NetworkHead
from oracles import TableHead, frame_looping
from torch import Tensor

NAMES = ("rnnt_offline", "tdt_offline")
WIDTH = 4
CAP = 10
LM_WEIGHT = 0.3
"""NeMo's own when the data were made."""

BLANK = 2


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def test_a_language_model_scores_labels_as_nemos_does(lm: ArpaWalk, fusion: dict[str, Any]) -> None:
    for said, wanted in zip(fusion["lm"]["seqs"], fusion["lm"]["scores_bos_eos"], strict=True):
        found = [float(lm.scores(said[:place])[label]) for place, label in enumerate(said)]
        assert found == pytest.approx(wanted[:-1], abs=1e-5)


@pytest.mark.parametrize("with_lm", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_best_is_the_one_that_nemo_finds(
    nemo_golden: GoldenReader, fusion: dict[str, Any], lm: ArpaWalk, name: str, with_lm: bool
) -> None:
    golden = nemo_golden(name)
    network = golden.model.transducer
    rules = BeamRules(WIDTH, CAP, lm=lm if with_lm else None, lm_weight=LM_WEIGHT)
    wanted = fusion[name][f"malsd_beam4_lm{with_lm}"]
    for row, each in zip(golden.rows("encoded"), wanted, strict=True):
        best = ranked(beam_search(NetworkHead(network), network.hear(row), rules))[0]
        assert list(best.tokens) == each["tokens"]
        assert list(best.frames) == each["timestamps"]
        assert best.score == pytest.approx(each["score"], abs=1e-3)


def rnnt(rows: dict[tuple[int, int], tuple[float, ...]]) -> TableHead:
    """Probabilities of two labels and the blank by last label and frame; else the blank's alone."""
    return tdt(rows, (), ())


def tdt(
    rows: dict[tuple[int, int], tuple[float, ...]],
    durations: tuple[int, ...],
    lasting: tuple[float, ...],
) -> TableHead:
    def table(last: int, frame: int) -> tuple[Tensor, Tensor]:
        return torch.tensor(rows.get((last, frame), (1e-9, 1e-9, 1.0))).log(), torch.tensor(
            lasting
        ).log()

    return TableHead(BLANK, durations, table)


def found(head: TableHead, frames: int, rules: BeamRules) -> list[Said]:
    return ranked(beam_search(head, torch.arange(frames).unsqueeze(1), rules))


def test_paths_of_the_same_labels_add_up() -> None:
    """0 in the first frame, or in the second: neither is as likely as silence, both are."""
    head = rnnt({(BLANK, 0): (0.4, 1e-9, 0.6), (BLANK, 1): (0.4, 1e-9, 0.6)})
    likely = found(head, 2, BeamRules(3, CAP, narrow=5.0))
    nothing, said = sorted(likely, key=lambda each: each.tokens)
    assert math.exp(nothing.score) == pytest.approx(0.36, abs=1e-6)
    assert math.exp(said.score) == pytest.approx(0.64, abs=1e-6)
    assert said.frames == (0,)


def test_a_beam_of_one_finds_what_the_greedy_loop_does(nemo_golden: GoldenReader) -> None:
    network = nemo_golden("rnnt_offline").model.transducer
    head = NetworkHead(network)
    for row in nemo_golden("rnnt_offline").rows("encoded"):
        heard = network.hear(row)
        greedy, _ = frame_looping(head, heard, CAP)
        for waits in ("chunk", "frame"):
            [best] = beam_search(head, heard, BeamRules(1, CAP, waits))
            assert (list(best.tokens), list(best.frames)) == (greedy.tokens, greedy.frames)


@pytest.mark.parametrize("name", NAMES)
def test_who_waits_in_every_frame_finds_the_same_however_frames_are_cut(
    nemo_golden: GoldenReader, name: str
) -> None:
    network = nemo_golden(name).model.transducer
    head, rules = NetworkHead(network), BeamRules(WIDTH, CAP, "frame")
    heard = network.hear(nemo_golden(name).rows("encoded")[2])
    beam, first = begin(head), 0
    for chunk in heard.split(3):
        beam, first = beam_search(head, chunk, rules, beam, first), first + len(chunk)
    whole = beam_search(head, heard, rules)
    assert [(each.tokens, each.frames) for each in beam] == [
        (each.tokens, each.frames) for each in whole
    ]
    assert [each.score for each in beam] == pytest.approx([each.score for each in whole])


def test_a_frame_is_left_by_a_blank_after_so_many_labels() -> None:
    head = rnnt({(last, 0): (0.9, 0.05, 0.05) for last in range(3)})
    best = found(head, 1, BeamRules(1, 2))[0]
    assert best.tokens == (0, 0)
    assert math.exp(best.score) == pytest.approx(0.9 * 0.9 * 0.05, rel=1e-5)


def test_a_blank_of_no_duration_advances_by_one_and_adds_to_that_of_one() -> None:
    head = tdt({}, (0, 1), (0.4, 0.6))
    [best] = found(head, 1, BeamRules(2, CAP))
    assert math.exp(best.score) == pytest.approx(1.0, abs=1e-6)


def test_what_costs_too_much_more_than_the_best_is_dropped() -> None:
    head = rnnt({(BLANK, 0): (0.3, 1e-4, 0.7)})
    assert len(found(head, 1, BeamRules(3, CAP))) == 3
    assert [each.tokens for each in found(head, 1, BeamRules(3, CAP, narrow=2.0))] == [(), (0,)]
