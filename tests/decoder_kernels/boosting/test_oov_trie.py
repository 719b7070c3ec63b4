"""Words from outside in a trie: what is due on the way to their last arc."""

from collections.abc import Iterator, Mapping

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.boosting.oov_trie import LOOP, OovTrie, OovWord, Spelling
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

COST = 12.0


def trie_of(spellings: Mapping[Spelling, int], bonuses: Mapping[int, float]) -> OovTrie:
    return OovTrie([OovWord(each, word, COST) for each, word in spellings.items()], bonuses)


def due(trie: OovTrie, spelling: Spelling) -> list[float]:
    """By token, what is due once it is said."""
    arcs = {(arc.source, arc.label, arc.target == LOOP): arc for arc in trie.arcs}
    node, paid = 0, [0.0]
    for place, token in enumerate(spelling, start=1):
        arc = arcs[node, token + 1, place == len(spelling)]
        node = arc.target
        paid.append(paid[-1] + arc.weight)
    return paid[1:]


def test_what_the_bonus_leaves_is_due_in_even_parts() -> None:
    trie = trie_of({(1, 2, 3, 4): 7}, {7: 8.0})
    assert due(trie, (1, 2, 3, 4)) == [1.0, 2.0, 3.0, COST]


def test_words_that_begin_alike_have_the_lesser_due() -> None:
    trie = trie_of({(1, 2): 7, (1, 2, 3): 8, (1, 5, 6): 9}, {8: 9.0})
    assert due(trie, (1, 2, 3)) == [1.0, 2.0, COST]
    assert due(trie, (1, 2)) == [1.0, COST]
    assert due(trie, (1, 5, 6)) == [1.0, 8.0, COST]
    assert trie.num_nodes == 4


@st.composite
def words(draw: st.DrawFn) -> Iterator[tuple[dict[Spelling, int], dict[int, float]]]:
    """Spellings and their bonuses."""
    spellings = draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=5), max_size=8))
    ids = {tuple(spelling): word for word, spelling in enumerate(spellings, start=10)}
    bonuses = draw(st.dictionaries(st.sampled_from([*ids.values(), 0]), st.floats(0.0, 1.5 * COST)))
    return ids, bonuses


@given(words())
def test_every_word_costs_the_same_and_nothing_is_given_back_on_the_way(
    drawn: tuple[dict[Spelling, int], dict[int, float]],
) -> None:
    ids, bonuses = drawn
    trie = trie_of(ids, bonuses)
    for spelling, word in ids.items():
        paid = due(trie, spelling)
        assert paid[-1] == pytest.approx(COST)
        assert paid == sorted(paid)
        net = max(0.0, COST - bonuses.get(word, 0.0))
        for place, so_far in enumerate(paid[:-1], start=1):
            assert so_far <= net * place / len(spelling) + 1e-9


def test_a_boosted_word_dearer_than_the_beam_is_heard(device: torch.device) -> None:
    """At its first token it would be as far behind as it costs, were all of that due."""
    graph = Graph.from_arcs(
        [Arc(0, 2, 1, 0.0, 0)],
        {0: 0.0},
        1,
        topology="compact",
        vocab_size=6,
        word_texts=["<eps>", "a"],
        loop_node=0,
        unknown_cost=COST,
    )
    sizes = WfstSearchConfig(
        max_tokens=100, backpointer_capacity=1000, entry_capacity=1000, candidate_capacity=4000
    )
    spelling = (2, 3, 4, 5)
    search = WfstSearch(graph, sizes, 1, device)
    search.set_options(0, WfstOptions(beam=8.0, max_active=100))
    search.set_boost(0, WordBoostTable.compile([WordPhrase((spelling,), 8.0)], graph, beam=8.0))
    log_probs = torch.full((1, 4, 6), -20.0, device=device)
    log_probs[0, :, 1] = -2.0  # "a" all the time is likelier, up to the last token
    log_probs[0, [0, 1, 2, 3], list(spelling)] = 0.0
    search.advance(torch.tensor([0]), log_probs, torch.tensor([4]))
    assert search.best(torch.tensor([0]), finalize=True)[0].hypothesis.words == (2,)
