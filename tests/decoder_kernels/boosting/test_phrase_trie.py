"""The tree of phrases: its states and their failures."""

from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.boosting.phrase_trie import PhraseTrie

Phrase = tuple[int, ...]
phrases = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=5).map(tuple), max_size=8)


def beginnings(sequences: list[Phrase]) -> dict[Phrase, int]:
    """The state of each beginning of a phrase."""
    trie = PhraseTrie(sequences)
    return {
        sequence[:length]: state
        for sequence in sequences
        for length, state in enumerate(trie.path(sequence), start=1)
    } | {(): 0}


@given(phrases)
def test_there_is_a_state_for_each_beginning(sequences: list[Phrase]) -> None:
    states = beginnings(sequences)
    assert len(PhraseTrie(sequences)) == len(states) == len(set(states.values()))


@given(phrases)
def test_a_failure_is_the_longest_suffix_that_is_a_state(sequences: list[Phrase]) -> None:
    states, failures = beginnings(sequences), PhraseTrie(sequences).failures
    for prefix, state in states.items():
        suffixes = [prefix[start:] for start in range(1, len(prefix) + 1)] or [()]
        assert failures[state] == next(states[each] for each in suffixes if each in states)


@given(phrases)
def test_states_go_by_depth_and_children_lie_side_by_side(sequences: list[Phrase]) -> None:
    trie = PhraseTrie(sequences)
    assert trie.depths == sorted(trie.depths)
    children = [child for each in trie.children for child in each.values()]
    assert children == list(range(1, len(trie)))
    assert all(list(each) == sorted(each) for each in trie.children)
