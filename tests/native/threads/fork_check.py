"""Forks after use of one library's threads, and says whether both sides compute on, with several.

usage: fork_check.py networks|searches. It needs a process of its own: threads of torch's own, which
other tests may have started in theirs, survive no fork. Writes the threads of the child before and
after its work, and whether all results are equal to the bit.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path

import torch
from tiny_models import make_tiny_model
from torch import Tensor

from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.models.u2.conformer_step import ConformerStep

LANES, FRAMES, WORKERS, MORE_WORKERS = 8, 6, 3, 6
Work = Callable[[int], list[Tensor]]
"""Something that so many threads share."""


def networks() -> Work:
    encoder = make_tiny_model().encoder
    encoder.heard = lambda rows, _: rows
    encoder.embed_heard = lambda rows, *_: rows
    step, state = ConformerStep(encoder), encoder.initial_state(LANES, 9)
    rows = torch.randn(LANES, FRAMES, encoder.output_size)
    lengths, slots = torch.full((LANES,), FRAMES), torch.arange(LANES)

    def work(workers: int) -> list[Tensor]:
        torch.get_num_threads = lambda: workers  # of the native step alone
        encoded, update = step(rows, lengths, state, slots, 0)
        return [encoded, update.att_columns, update.cnn_cache]

    return work


def searches() -> Work:
    log_probs = torch.randn(LANES, FRAMES, 11).log_softmax(dim=-1)

    def work(workers: int) -> list[Tensor]:
        search = PrefixSearch(PrefixSearchConfig(workers=workers), LANES, 11)
        search.advance(torch.arange(LANES), log_probs, torch.full((LANES,), FRAMES))
        found = (search.nbest(slot, 4) for slot in range(LANES))
        return [torch.tensor([hypothesis.score for hypothesis in lane]) for lane in found]

    return work


def same(found: list[Tensor], expected: list[Tensor]) -> bool:
    """To the bit."""
    return all(map(torch.equal, found, expected))


def threads() -> int:
    """Threads of this process."""
    return len(list(Path("/proc/self/task").iterdir()))


@torch.inference_mode()
def main(library: Callable[[], Work]) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    work = library()
    expected = work(1)
    equal = same(work(WORKERS), expected)
    here, there = Pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # what it warns of is checked here
        child = os.fork()
    if child == 0:
        alone = threads()
        there.send((alone, same(work(MORE_WORKERS), expected), threads()))
        os._exit(0)
    there.close()
    equal &= same(work(MORE_WORKERS), expected)
    alone, childs_equal, grown = here.recv()
    os.waitpid(child, 0)
    sys.stdout.write(f"{alone} {grown} {equal and childs_equal}")


if __name__ == "__main__":
    main({"networks": networks, "searches": searches}[sys.argv[1]])
