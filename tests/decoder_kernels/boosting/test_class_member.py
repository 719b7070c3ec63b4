"""Members of classes: what makes one, and that it is one word however it is said."""

import pytest
import torch

from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.errors import BoostTableError
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

A, MEMBER = 1, 2


def graph_of_one_word() -> Graph:
    return Graph.from_arcs(
        [Arc(0, 2, A, 3.0, 0)],
        {0: 0.0},
        1,
        topology="compact",
        vocab_size=4,
        word_texts=["<eps>", "a"],
        loop_node=0,
        unknown_cost=3.0,
    )


def test_two_ways_to_say_it_are_one_entry_of_a_list_and_one_confidence() -> None:
    graph = graph_of_one_word()
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=100), 1, torch.device("cpu"))
    search.set_options(0, WfstOptions(max_active=100, lattice_beam=8.0))
    member = ClassMember(((2,), (3,)), "<name>", 1.0)
    search.set_boost(0, WordBoostTable.compile([], graph, members=[member]))
    frames = torch.tensor([[[0.01, 0.33, 0.33, 0.33]]]).log()
    search.advance(torch.tensor([0]), frames, torch.tensor([1]))
    [found] = search.nbest([0], 10)
    assert [each.words for each in found or ()] == [(MEMBER,), (A,), ()]
    [sure] = search.confidences([0], 1.0)
    assert sure is not None
    assert sure.of([MEMBER], [0])[0] > 0.45  # of two words it would be 0.34


@pytest.mark.parametrize("spellings", [(), ((),), ((1,), ())])
def test_a_member_that_cannot_be_said_is_refused(spellings: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(BoostTableError, match="spelled with no tokens"):
        ClassMember(spellings, "<name>", 1.0)
