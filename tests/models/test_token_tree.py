"""Each beginning stands once, and every sequence is found again."""

from hypothesis import given
from hypothesis import strategies as st

from earshot.models.token_tree import NODES_AT_ONCE, ROOT, WIDEST, TokenTree, batches

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
            assert visible[node].nonzero()[0].tolist() == sorted([ROOT, *path[: place + 1]])


@given(st.lists(SEQUENCES, max_size=12))
def test_each_tree_is_in_one_batch_and_none_is_padded_much(lists):
    trees = [TokenTree.of(sequences, first=1) for sequences in lists]
    found = list(batches(trees))
    assert sorted(number for batch in found for number in batch) == list(range(len(trees)))
    for batch in found:
        sizes = [len(trees[number]) for number in batch]
        assert max(sizes) <= WIDEST * min(sizes)
        assert len(batch) == 1 or len(batch) * max(sizes) <= NODES_AT_ONCE
