"""Both libraries' threads in a process that forks: each side computes on, with several."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path

import pytest
import torch
from tiny_models import make_tiny_model
from torch import Tensor

from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.models.u2.conformer_step import ConformerStep
from earshot.models.u2.encoder import Encoder

LANES, FRAMES, WORKERS, MORE_WORKERS = 8, 6, 3, 6
Work = Callable[[int], list[Tensor]]
"""Something that so many threads share."""


def networks(monkeypatch: pytest.MonkeyPatch) -> Work:
    encoder = make_tiny_model().encoder
    assert isinstance(encoder, Encoder)
    monkeypatch.setattr(encoder, "embed_features", lambda rows, *_: rows)
    step, state = ConformerStep(encoder), encoder.initial_state(LANES, 9)
    rows = torch.randn(LANES, FRAMES, encoder.output_size)
    lengths, slots = torch.full((LANES,), FRAMES), torch.arange(LANES)

    def work(workers: int) -> list[Tensor]:
        # Of the native step alone: threads of torch's own do not survive a fork.
        monkeypatch.setattr(torch, "get_num_threads", lambda: workers)
        encoded, update = step(rows, lengths, state, slots, 0)
        return [encoded, update.att_columns, update.cnn_cache]

    return work


def searches(monkeypatch: pytest.MonkeyPatch) -> Work:
    del monkeypatch
    log_probs = torch.randn(LANES, FRAMES, 11).log_softmax(dim=-1)

    def work(workers: int) -> list[Tensor]:
        search = PrefixSearch(PrefixSearchConfig(workers=workers), LANES, 11)
        search.advance(torch.arange(LANES), log_probs, torch.full((LANES,), FRAMES))
        found = (search.nbest(slot, 4) for slot in range(LANES))
        return [torch.tensor([hypothesis.score for hypothesis in lane]) for lane in found]

    return work


@pytest.mark.parametrize("library", [networks, searches])
@torch.inference_mode()
def test_a_fork_leaves_both_processes_with_threads(
    library: Callable[[pytest.MonkeyPatch], Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(1)
    work = library(monkeypatch)
    expected = work(1)
    assert same(work(WORKERS), expected)
    here, there = Pipe()
    child = forked()
    if child == 0:  # in the child nothing may go on with the tests
        try:
            alone = threads()
            there.send((alone, same(work(MORE_WORKERS), expected), threads()))
        finally:
            os._exit(0)
    there.close()
    assert same(work(MORE_WORKERS), expected)
    alone, equal, grown = here.recv()
    os.waitpid(child, 0)
    assert equal
    assert (alone, grown) == (1, MORE_WORKERS)


def same(found: list[Tensor], expected: list[Tensor]) -> bool:
    """To the bit."""
    return all(map(torch.equal, found, expected))


def threads() -> int:
    """Of this process."""
    return len(list(Path("/proc/self/task").iterdir()))


def forked() -> int:
    """As `os.fork`, whose newer warning about threads this is the test of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()
