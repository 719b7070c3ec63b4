"""Every row of the papers' tables finds what the oracles find."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from network_head import NetworkHead
from oracles import frame_looping, lock_step

from benchmarks.transducer.ctc_greedy import ctc_greedy
from benchmarks.transducer.decoding import Batch, Labels
from benchmarks.transducer.frame_loops import in_lock_step, one_by_one
from benchmarks.transducer.native_label_looping import native_label_looping
from benchmarks.transducer.nemo_label_looping import INSTALL, nemo_label_looping
from benchmarks.transducer.torch_label_looping import TorchLabelLooping
from benchmarks.wfst.streams import NotRun
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

KINDS = {"RNN-T": (), "TDT": (0, 1, 2, 3, 4)}
ROWS = {
    "one by one": one_by_one,
    "label looping": TorchLabelLooping,
    "nothing in advance": lambda head: TorchLabelLooping(head, in_advance=False),
}
LENGTHS = [17, 1, 30, 9]


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture(params=KINDS)
def head(request: pytest.FixtureRequest) -> Transducer:
    return random_head(KINDS[request.param])


def random_head(durations: tuple[int, ...], blank_bias: float = 0.5) -> Transducer:
    """A head of 11 labels, whose weights are drawn so wide that what it says varies."""
    torch.manual_seed(5)
    config = TransducerConfig(11, 12, 16, 16, 2, durations=durations, max_symbols=3)
    head = Transducer(config).eval().requires_grad_(False)
    for layer in (head.joint.encoder, head.joint.predictor, head.joint.output):
        layer.weight.mul_(4)
    head.joint.output.bias[config.blank_id] += blank_bias
    return head


def random_batch() -> Batch:
    return Batch(torch.randn(len(LENGTHS), max(LENGTHS), 12), LENGTHS, 12.5)


def expected(head: Transducer, batch: Batch) -> list[Labels]:
    network, found = NetworkHead(head), []
    for frames in batch.utterances():
        labels, _ = frame_looping(network, head.hear(frames), head.config.max_symbols)
        found.append(Labels(labels.tokens, labels.frames))
    return found


@pytest.mark.parametrize("row", ROWS)
def test_a_row_finds_what_the_oracle_finds(head: Transducer, row: str) -> None:
    batch = random_batch()
    wanted = expected(head, batch)
    assert sum(len(labels.tokens) for labels in wanted) > 15
    assert ROWS[row](head)(batch) == wanted


def test_lock_step_finds_what_the_oracle_finds() -> None:
    head, batch = random_head(()), random_batch()
    heard = [head.hear(frames) for frames in batch.utterances()]
    wanted = lock_step(NetworkHead(head), heard, head.config.max_symbols)
    assert in_lock_step(head)(batch) == [Labels(each.tokens, each.frames) for each in wanted]


def test_a_head_without_blanks_says_the_most_in_every_frame() -> None:
    head, batch = random_head((), blank_bias=-100.0), random_batch()
    found = TorchLabelLooping(head)(batch)
    assert [len(labels.tokens) for labels in found] == [3 * length for length in LENGTHS]
    assert found == expected(head, batch) == in_lock_step(head)(batch)


def test_ctc_leaves_out_repetitions_blanks_and_what_is_past_the_end() -> None:
    batch = random_batch()
    for labels, length in zip(ctc_greedy(12, 3)(batch), LENGTHS, strict=True):
        assert all(frame < length for frame in labels.frames)
        assert 3 not in labels.tokens
        neighbours = zip(labels.frames, labels.frames[1:], strict=False)
        says = dict(zip(labels.frames, labels.tokens, strict=True))
        assert all(says[a] != says[b] for a, b in neighbours if b == a + 1)


def test_nemo_finds_what_the_oracle_finds(head: Transducer, repository_dir: Path) -> None:
    try:
        decode = nemo_label_looping(head, repository_dir / "build" / "nemo")
    except NotRun as error:
        pytest.skip(str(error))
    batch = random_batch()
    assert decode(batch) == expected(head, batch)


def test_a_folder_without_nemo_says_how_it_is_installed(head: Transducer, tmp_path: Path) -> None:
    with pytest.raises(NotRun) as error:
        nemo_label_looping(head, tmp_path)
    assert INSTALL in str(error.value)


def test_the_native_row_finds_what_the_oracle_finds(head: Transducer) -> None:
    batch = random_batch()
    assert native_label_looping(head)(batch) == expected(head, batch)
