"""N-best lists: as long as asked for, in order, and an error rather than a shorter one."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_company import posteriors
from wfst_cases import SMALL, graphs, options, tables

from earshot.decoder_kernels.errors import TooManyHistories
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst import wfst_nbest
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


def listening(graph: Graph, times: int, device: torch.device) -> WfstSearch:
    """A search that has heard the sound so many times."""
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=100), 1, device)
    search.set_options(0, WfstOptions(beam=50.0, max_active=100, lattice_beam=20.0))
    frames = torch.full((1, 3 * times, 3), -20.0)
    frames[0, torch.arange(3 * times), torch.tensor([0, 1, 2]).repeat(times)] = 0.0
    search.advance(SLOT, frames.to(device), torch.tensor([3 * times]))
    return search


def test_a_list_is_as_long_as_asked_for(device: torch.device) -> None:
    listed = listening(homophones(40), 20, device).nbest(0, 500)
    assert len({one.words for one in listed}) == 500
    assert [one.cost for one in listed] == sorted(one.cost for one in listed)


def test_a_list_that_would_take_too_long_is_refused(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = listening(homophones(10), 10, device)
    monkeypatch.setattr(wfst_nbest, "MAX_STEPS_PER_WIDTH", 20_000)
    assert len(search.nbest(0, 5)) == 5
    with pytest.raises(TooManyHistories):
        search.nbest(0, 100_000)


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
        assert search.nbest(0, 1, finalize=finalize) == [best.hypothesis]
