"""N-best lists: as long as asked for, in order, and an error rather than a shorter one."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_company import posteriors
from wfst_cases import SMALL, graphs, options, tables

from earshot.decoder_kernels.errors import InvalidInput
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

SLOT = torch.tensor([0])


def homophones(count: int) -> Graph:
    """Words of one sound, token 1 then 2, each a little dearer than the one before."""
    words = range(1, count + 1)
    said = [Arc(0, 2, word, 1.0 + word / 64, word) for word in words]
    back = [Arc(word, 3, 0, 0.0, 0) for word in words]
    return Graph.from_arcs(
        said + back,
        {0: 0.0},
        count + 1,
        topology="compact",
        vocab_size=3,
        word_texts=["<eps>", *map(str, words)],
    )


def listening(graph: Graph, times: int, device: torch.device, slots: int = 1) -> WfstSearch:
    """A search whose slots have heard the sound so many times."""
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=100), slots, device)
    for slot in range(slots):
        search.set_options(slot, WfstOptions(beam=50.0, max_active=100, lattice_beam=20.0))
    frames = torch.full((slots, 3 * times, 3), -20.0)
    frames[:, torch.arange(3 * times), torch.tensor([0, 1, 2]).repeat(times)] = 0.0
    search.advance(torch.arange(slots), frames.to(device), torch.full((slots,), 3 * times))
    return search


def test_a_list_is_as_long_as_asked_for(device: torch.device) -> None:
    [listed] = listening(homophones(40), 20, device).nbest([0], 500)
    assert listed is not None
    assert len({one.words for one in listed}) == 500
    assert [one.cost for one in listed] == sorted(one.cost for one in listed)


def test_a_list_that_would_take_too_long_is_refused(
    device: torch.device,
) -> None:
    search = listening(homophones(10), 10, device)
    [listed] = search.nbest([0], 5)
    assert listed is not None
    assert len(listed) == 5
    assert search.nbest([0], 10_000_000) == [None]


def test_a_slot_with_too_many_alternatives_spoils_no_other(device: torch.device) -> None:
    search = listening(homophones(10), 10, device, slots=2)
    search.reset(SLOT)
    nothing, too_many = search.nbest([0, 1], 10_000_000)
    assert nothing is not None
    assert [one.words for one in nothing] == [()]
    assert too_many is None


def test_slots_are_asked_side_by_side(device: torch.device) -> None:
    search = listening(homophones(10), 3, device, slots=3)
    search.reset(torch.tensor([1]))
    asked = search.nbest([2, 1, 0], 7, finalize=[True, False, False])
    alone = [search.nbest([slot], 7, finalize=[slot == 2])[0] for slot in (2, 1, 0)]
    assert asked == alone
    assert search.nbest([], 7) == []


@pytest.mark.no_launch
def test_slots_that_are_not_there_are_refused(device: torch.device) -> None:
    search = listening(homophones(2), 1, device)
    for slots in ([1], [-1], [0, 0]):
        with pytest.raises(InvalidInput):
            search.nbest(slots, 1)
    with pytest.raises(ValueError, match="zip"):
        search.nbest([0], 1, finalize=[])


@given(data=st.data(), graph=graphs(), chosen=options())
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_first_of_a_list_is_the_best_with_its_times(
    data: st.DataObject, graph: Graph, chosen: WfstOptions, device: torch.device
) -> None:
    frames = data.draw(posteriors(data.draw(st.integers(0, 8)), graph.vocab_size))
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=1000, **SMALL), 1, device)
    search.set_options(0, chosen)
    search.set_boost(0, data.draw(tables(graph)))
    search.advance(SLOT, frames[None].to(device), torch.tensor([len(frames)]))
    for finalize in (False, True):
        [best] = search.best(SLOT, finalize=finalize)
        assert search.nbest([0], 1, finalize=[finalize]) == [[best.hypothesis]]
