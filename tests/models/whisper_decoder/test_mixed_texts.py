"""Texts between two others have each place of either, and are neither."""

from hypothesis import given
from hypothesis import strategies as st

from earshot.models.whisper_decoder.mixed_texts import MOST_HEARD, MOST_PLACES, mixed_texts

TEXTS = st.lists(st.sampled_from("abcd"), max_size=7)


def test_each_place_may_be_as_it_was_heard():
    found = mixed_texts(["a", "x", "c", "y", "e", "z", "g"], [["a", "b", "c", "d", "e", "f", "g"]])
    expected = {
        "a b c y e z g", "a x c d e z g", "a x c y e f g",
        "a x c d e f g", "a b c y e f g", "a b c d e z g",
    }  # fmt: skip
    assert {" ".join(words) for words in found} == expected


def test_texts_that_differ_in_one_place_have_none_between_them():
    assert mixed_texts(["a", "b"], [["a", "c", "d"]]) == []
    assert mixed_texts(["a", "b"], [["a", "b"]]) == []


def test_further_hypotheses_give_their_places_too():
    found = mixed_texts(["a", "x", "c", "y"], [["a", "b", "c", "y"], ["a", "x", "c", "d"]])
    assert found == []
    found = mixed_texts(["a", "x", "c", "y"], [["a", "x", "c", "y"], ["a", "b", "c", "d"]])
    assert found == [["a", "b", "c", "y"], ["a", "x", "c", "d"]]


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=6))
def test_they_are_none_that_is_asked_about_anyway(own, heard):
    found = mixed_texts(own, heard)
    assert own not in found
    assert not any(words in found for words in heard)
    assert len({tuple(words) for words in found}) == len(found)
    assert all(found)


@given(st.integers(1, 12), st.integers(1, 6))
def test_they_are_bounded_however_much_differs(places, count):
    own = [f"a{i % 2}" for i in range(2 * places)]
    heard = [[f"b{n}" if i % 2 else "a0" for i in range(2 * places)] for n in range(count)]
    assert len(mixed_texts(own, heard)) <= MOST_PLACES * (MOST_HEARD + 1)
