"""How a second pass's candidates are ranked by what parts add to their scores."""

from types import SimpleNamespace

import pytest

from earshot.streaming.parts.rescorer import (
    MOST_ASKED,
    REACH,
    Candidates,
    CandidateWord,
    RankedAnew,
    gains,
)
from earshot.streaming.results.hypothesis import SpokenWord
from earshot.streaming.results.results import Scored
from earshot.streaming.stream.lane import Ending


class Prefers:
    """A part that has something to say of each word, and remembers what it was asked."""

    def __init__(self, **words: float) -> None:
        self.words = words
        self.asked: list[list[str]] = []

    def __call__(self, asked):
        for each in asked:
            self.asked.append([" ".join(word.text for word in text) for text in each.texts])
        return [
            [sum(self.words.get(word.text, 0.0) for word in text) for text in each.texts]
            for each in asked
        ]


def scored(text: str, score: float) -> Scored:
    words = [SpokenWord(word, at, at + 1, word.isupper()) for at, word in enumerate(text.split())]
    return Scored(SimpleNamespace(words=words, text=text), score)


def ending(*candidates: Scored) -> Ending:
    stream = SimpleNamespace()
    return Ending(stream, "endpoint", 0, [each.hypothesis for each in candidates], [*candidates])


def ranked(found: Ending) -> list[tuple[str, float]]:
    return [(each.hypothesis.text, pytest.approx(each.score)) for each in found.scored]


def test_what_parts_add_is_summed_up():
    texts = [[CandidateWord("a", False)], [CandidateWord("b", False)]]
    asked = [Candidates(SimpleNamespace(), texts)]
    assert gains([Prefers(a=-1.0, b=-2.0), Prefers(b=0.5)], asked) == [[-1.0, -1.5]]
    assert gains([], asked) == [[0.0, 0.0]]


def test_candidates_are_ranked_with_what_is_added():
    found = ending(scored("wreck a", -1.0), scored("recognise", -2.0))
    RankedAnew([Prefers(wreck=-4.0, recognise=-2.5)])([found])
    assert ranked(found) == [("recognise", -4.5), ("wreck a", -5.0)]


def test_where_nothing_is_added_nothing_changes():
    found, nothing = ending(scored("a", -1.0), scored("b", -2.0)), ending()
    before = found.scored
    RankedAnew([Prefers()])([found, nothing])
    assert found.scored is before
    assert not nothing.scored


def test_parts_are_told_which_words_the_request_named() -> None:
    boosted = []

    def part(asked):
        boosted.extend(word.boosted for text in asked[0].texts for word in text)
        return [[0.0, 0.0]]

    member = SpokenWord("c", 0, 1, False, word_class="name")
    other = Scored(SimpleNamespace(words=[member], text="c"), -2.0)
    RankedAnew([part])([ending(scored("a B", -1.0), other)])
    assert boosted == [False, True, True]


def test_they_are_asked_only_about_what_is_within_reach():
    part = Prefers(a=-30.0, b=-20.0, far=100.0)
    found = ending(scored("a", 0.0), scored("b", -1.0), scored("far", -REACH - 0.1))
    RankedAnew([part])([found])
    assert part.asked == [["a", "b"]]
    assert [text for text, _ in ranked(found)] == ["b", "a", "far"]
    scores = [each.score for each in found.scored]
    assert scores == sorted(scores, reverse=True)


def test_they_are_asked_about_so_many_candidates_at_most():
    part = Prefers()
    found = ending(*(scored(f"word{place}", -0.1 * place) for place in range(MOST_ASKED + 5)))
    RankedAnew([part])([found])
    assert len(part.asked[0]) == MOST_ASKED
    assert len(found.scored) == MOST_ASKED + 5
