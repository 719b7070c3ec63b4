"""A device that refuses launches or memory, or breaks: each becomes an error of ours."""

import inspect
from collections.abc import Callable

import pytest
import torch
from emulator import Emulator

from earshot.decoder_kernels.errors import DeviceError, KernelError, OutOfDeviceMemory
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions, WfstSearch, WfstSearchConfig

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


def calls_of(search: Search, frames: torch.Tensor) -> dict[str, Callable[[], object]]:
    """All that can be asked of a search, by name."""
    calls: dict[str, Callable[[], object]] = {
        "advance": lambda: search.advance(SLOT, frames, LENGTH),
        "best": lambda: search.best(SLOT),
        "nbest": lambda: search.nbest(0, 2),
        "reset": lambda: search.reset(SLOT),
        "overflows": lambda: search.overflows(),
        "set_boost": lambda: search.set_boost(0, None),
    }
    if isinstance(search, PrefixSearch):
        calls |= {"overflows_of": lambda: search.overflows_of(SLOT)}
    if isinstance(search, WfstSearch):
        calls |= {
            "overflows_and_dead_ends": lambda: search.overflows_and_dead_ends(SLOT),
            "nbest": lambda: search.nbest([0], 2),
            "lattices": lambda: search.lattices([0]),
            "confidences": lambda: search.confidences([0], 1.0),
            "set_options": lambda: search.set_options(0, WfstOptions(max_active=10)),
            "set_lm": lambda: search.set_lm(0, None),
            "dead_ends": lambda: search.dead_ends(),
            "backpointers_in_use": lambda: search.backpointers_in_use(0),
            "num_tokens": lambda: search.num_tokens(SLOT),
        }
    return calls


ASKS_NO_DEVICE = {"hypothesis"}
"""Read on the host."""

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
    calls = calls_of(search, frames.to(emulator.device))
    emulator.fail_for_good("the device has fallen off the bus")
    for call in calls.values():
        with pytest.raises(DeviceError, match="the device has fallen off the bus"):
            call()


@pytest.mark.parametrize("make", MAKERS)
def test_a_broken_device_gives_no_search(emulator: Emulator, make) -> None:
    emulator.fail_for_good("the device has fallen off the bus")
    with pytest.raises(DeviceError, match="the device has fallen off the bus"):
        make(emulator.device)


@pytest.mark.parametrize("make", MAKERS)
def test_a_broken_device_is_asked_everything(emulator: Emulator, make, frames) -> None:
    """What a search says is all in `calls_of`, but for what asks no device."""
    search = make(emulator.device)
    public = {name for name, _ in inspect.getmembers(search, inspect.ismethod) if name[0] != "_"}
    assert public - ASKS_NO_DEVICE == set(calls_of(search, frames))
