"""Each beginning stands once, and every sequence is found again."""

from hypothesis import given
from hypothesis import strategies as st

from earshot.models.neural_lm.token_tree import ROOT, TokenTree

SEQUENCES = st.lists(st.lists(st.integers(2, 5), max_size=6), max_size=8)


@given(SEQUENCES)
def test_every_sequence_is_spelled_by_its_way_from_the_root(sequences):
    tree = TokenTree.of(sequences, first=1)
    assert [[tree.pieces[node] for node in way] for way in tree.ways] == sequences
    for way in tree.ways:
        assert [tree.parents[node] for node in way] == [ROOT, *way][: len(way)]
        assert [tree.depths[node] for node in way] == list(range(1, len(way) + 1))


@given(SEQUENCES)
def test_there_is_one_node_for_each_beginning(sequences):
    beginnings = {tuple(s[:length]) for s in sequences for length in range(len(s) + 1)} | {()}
    assert len(TokenTree.of(sequences, first=1)) == len(beginnings)


@given(SEQUENCES)
def test_a_node_sees_itself_and_what_leads_to_it(sequences):
    tree = TokenTree.of(sequences, first=1)
    visible = tree.visible()
    for way in tree.ways:
        for place, node in enumerate(way):
            assert visible[node].nonzero().flatten().tolist() == sorted([ROOT, *way[: place + 1]])
