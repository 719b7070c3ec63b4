"""The CUDA half gives what the CPU half gives, to the last bit: real recordings.

``benchmarks/cuda/cuda_equality.py`` does the same over as many as one likes.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from emulator import Emulator

from benchmarks.cuda.cuda_equality import Pair, compare_all
from benchmarks.wfst.posteriors import Utterance
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig

pytestmark = [pytest.mark.emulated, pytest.mark.timeout(600)]


def test_recordings_come_out_alike(emulator: Emulator, clips_manifest: Path) -> None:
    found = list(compare_all(emulator, clips_manifest, per_corpus=3))
    assert [name for name, _ in found] == ["prefixes"] * 3 + ["graph"] * 3
    assert [compared.difference for _, compared in found] == [""] * 6
    assert all(compared.frames > 5 for _, compared in found)


@pytest.fixture
def heard() -> Utterance:
    rows = np.random.default_rng(1).normal(size=(60, 7)).astype(np.float32)
    log_probs = torch.from_numpy(rows).log_softmax(-1).numpy()
    return Utterance("noise", "no words", log_probs)


def make_pair(device: torch.device, beam_size: int) -> Pair:
    here = PrefixSearch(PrefixSearchConfig(), 1, 7, "cpu")
    return Pair(here, PrefixSearch(PrefixSearchConfig(beam_size=beam_size), 1, 7, device))


def test_a_difference_is_noticed(emulator: Emulator, heard: Utterance) -> None:
    same = make_pair(emulator.device, beam_size=10)
    assert same.compare(heard).difference == ""
    other = make_pair(emulator.device, beam_size=9)
    assert " here, " in other.compare(heard).difference
