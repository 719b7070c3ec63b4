"""A device that refuses launches or memory, or breaks: each becomes an error of ours."""

from collections.abc import Callable

import pytest
import torch
from emulator import Emulator

from earshot.decoder_kernels.errors import DeviceError, KernelError, OutOfDeviceMemory
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

pytestmark = pytest.mark.emulated

VOCAB = 5
Search = PrefixSearch | WfstSearch
SLOT, LENGTH = torch.tensor([0]), torch.tensor([3])


def prefix_search(device: torch.device) -> Search:
    return PrefixSearch(PrefixSearchConfig(), 2, VOCAB, device)


def graph_search(device: torch.device) -> Search:
    arcs = [Arc(0, token + 1, token, 0.0, 0) for token in range(1, VOCAB)]
    texts = ("<eps>", *"abcd")
    graph = Graph.from_arcs(
        arcs, {0: 0.0}, 1, topology="compact", vocab_size=VOCAB, word_texts=texts
    )
    return WfstSearch(graph, WfstSearchConfig(max_tokens=10), 2, device)


MAKERS: list[Callable[[torch.device], Search]] = [prefix_search, graph_search]


@pytest.fixture
def frames() -> torch.Tensor:
    return torch.randn(1, 3, VOCAB, generator=torch.Generator().manual_seed(1)).log_softmax(-1)


@pytest.mark.parametrize("make", MAKERS)
def test_a_launch_that_is_refused_is_an_error_of_ours(emulator: Emulator, make, frames) -> None:
    search = make(emulator.device)
    there = frames.to(emulator.device)
    emulator.fail_launch()
    with pytest.raises(DeviceError, match="told to fail"):
        search.advance(SLOT, there, LENGTH)
    search.advance(SLOT, there, LENGTH)
    assert len(search.best(SLOT)) == 1


@pytest.mark.parametrize("make", MAKERS)
def test_memory_that_is_refused_is_an_error_of_ours(emulator: Emulator, make, frames) -> None:
    there = frames.to(emulator.device)
    errors = []
    for after in range(40):
        emulator.restart()
        emulator.fail_allocation(after=after)
        try:
            search = make(emulator.device)
            search.advance(SLOT, there, LENGTH)
            search.best(SLOT)
        except (KernelError, RuntimeError) as error:  # ours, or what torch would say
            errors.append(type(error))
    assert len(errors) > 10
    assert set(errors) == {OutOfDeviceMemory}


@pytest.mark.parametrize("make", MAKERS)
def test_a_broken_device_is_an_error_of_ours(emulator: Emulator, make, frames) -> None:
    search = make(emulator.device)
    there = frames.to(emulator.device)
    emulator.fail_for_good("the device has fallen off the bus")
    for call in (
        lambda: search.advance(SLOT, there, LENGTH),
        lambda: search.best(SLOT),
        lambda: search.reset(SLOT),
        lambda: search.overflows(),
    ):
        with pytest.raises(DeviceError, match=r"off the bus|out of memory"):
            call()
