"""Greedy decoding with boosts and an n-gram of labels: what NeMo's graph code finds.

Its beams over a CTC head (`beam_batch4`, `beam_batch4_lm0.5`) are not compared: they are another
search than ours, whose scores are no sums of alignments.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from arpa_walk import ArpaWalk
from boost_walk import BoostWalk
from nemo_boosts import Both, LmWalk, table_of
from nemo_golden import GoldenReader
from network_head import NetworkHead
from oracles import Found, frame_looping
from torch import Tensor

from earshot.decoder_kernels.transducer.label_loop import WalkedChunk
from earshot.streaming.transducer.native_loop import label_loop_of

NAMES = ("rnnt_offline", "tdt_offline")
CAP = 10


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def assert_nemos(found: WalkedChunk | Found | None, wanted: dict[str, Any]) -> None:
    assert found is not None
    assert found.tokens == wanted["tokens"]
    assert found.frames == wanted["timestamps"]


@pytest.mark.parametrize("case", ["lm0.5", "boost1.0", "lm0.3_boost1.0"])
@pytest.mark.parametrize("name", NAMES)
def test_the_plain_loop_finds_what_nemo_does(
    nemo_golden: GoldenReader, fusion: dict[str, Any], lm: ArpaWalk, name: str, case: str
) -> None:
    network = nemo_golden(name).model.transducer
    boosts = BoostWalk(table_of(fusion["boosting"]))
    fused = {
        "lm0.5": LmWalk(lm, 0.5),
        "boost1.0": boosts,
        "lm0.3_boost1.0": Both(LmWalk(lm, 0.3), boosts),
    }[case]
    wanted = fusion[name][case]["graph_semantics"]
    for row, each in zip(nemo_golden(name).rows("encoded"), wanted, strict=True):
        found, _ = frame_looping(
            NetworkHead(network),
            network.hear(row),
            CAP,
            boosts=fused,  # type: ignore[arg-type]
        )
        assert_nemos(found, each)


@pytest.mark.parametrize("name", NAMES)
def test_label_looping_boosts_as_nemo_does(
    nemo_golden: GoldenReader, fusion: dict[str, Any], name: str
) -> None:
    table = table_of(fusion["boosting"])
    loop = label_loop_of(nemo_golden(name).model.transducer, 1, table.num_states)
    loop.set_boost(0, table)
    rows = nemo_golden(name).rows("encoded")
    found = [loop([row], [loop.begin()], [0])[0] for row in rows]
    for walked, each in zip(found, fusion[name]["boost1.0"]["graph_semantics"], strict=True):
        assert_nemos(walked, each)


@pytest.mark.parametrize("name", NAMES)
def test_boosts_are_each_streams_own(
    nemo_golden: GoldenReader, fusion: dict[str, Any], name: str
) -> None:
    """NeMo's tree number 0 is the one of the data, -1 none; of number 1 they do not tell."""
    table = table_of(fusion["boosting"])
    loop = label_loop_of(nemo_golden(name).model.transducer, 2, table.num_states)
    loop.set_boost(1, table)
    told = zip(
        nemo_golden(name).rows("encoded"),
        fusion[name]["per_stream"]["ids"],
        fusion[name]["per_stream"]["hyps"],
        strict=True,
    )
    known = [(row, tree + 1, wanted) for row, tree, wanted in told if tree < 1]
    rows, slots, wanted = zip(*known, strict=True)
    for walked, each in zip(loop(rows, [loop.begin()] * 3, slots), wanted, strict=True):
        assert_nemos(walked, each)


def test_greedy_ctc_with_a_language_model_finds_what_nemo_does(
    nemo_golden: GoldenReader, fusion: dict[str, Any], lm: ArpaWalk
) -> None:
    golden, wanted = nemo_golden("ctc_offline"), fusion["ctc_offline"]["greedy_batch_lm0.5"]
    for row, each in zip(golden.rows("encoded"), wanted, strict=True):
        assert fused_ctc(golden.model.ctc(row), lm, 0.5) == each["y"]


def fused_ctc(log_probs: Tensor, lm: ArpaWalk, weight: float) -> list[int]:
    """The label or blank of each frame of `(T, V + 1)`.

    Where the network hears the blank, or the last frame's label again, the model has no say; else
    both choose among all other labels.
    """
    said: list[int] = []
    found: list[int] = []
    blank = log_probs.shape[1] - 1
    for frame in log_probs.double():
        last, heard = found[-1] if found else blank, int(frame.argmax())
        if heard not in (blank, last):
            frame[:blank] += weight * lm.scores(said)
            frame[[last, blank]] = -torch.inf
            heard = int(frame.argmax())
            said.append(heard)
        found.append(heard)
    return found
