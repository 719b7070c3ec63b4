"""Each beginning stands once, and every sequence is found again."""

from hypothesis import given
from hypothesis import strategies as st

from earshot.models.neural_lm.token_tree import ROOT, TokenTree

SEQUENCES = st.lists(st.lists(st.integers(2, 5), max_size=6), max_size=8)


@given(SEQUENCES)
def test_every_sequence_is_spelled_by_its_way_from_the_root(sequences):
    tree = TokenTree.of(sequences, first=1)
    assert [[tree.tokens[node] for node in path] for path in tree.paths] == sequences
    for path in tree.paths:
        assert [tree.parents[node] for node in path] == [ROOT, *path][: len(path)]
        assert [tree.depths[node] for node in path] == list(range(1, len(path) + 1))


@given(SEQUENCES)
def test_there_is_one_node_for_each_beginning(sequences):
    beginnings = {tuple(s[:length]) for s in sequences for length in range(len(s) + 1)} | {()}
    assert len(TokenTree.of(sequences, first=1)) == len(beginnings)


@given(SEQUENCES)
def test_a_node_sees_itself_and_what_leads_to_it(sequences):
    tree = TokenTree.of(sequences, first=1)
    visible = tree.visible()
    for path in tree.paths:
        for place, node in enumerate(path):
            assert visible[node].nonzero().flatten().tolist() == sorted([ROOT, *path[: place + 1]])
