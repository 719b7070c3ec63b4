"""What the neural language model changes in the ranking of candidates."""

from types import SimpleNamespace

import pytest

from earshot.models.neural_lm.sentence_scorer import SentenceScore
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.parts.neural_lm import (
    LEAST_BOOSTED,
    MOST_ASKED,
    REACH,
    NeuralRescoring,
)
from earshot.streaming.results.hypothesis import SpokenWord
from earshot.streaming.results.results import Scored
from earshot.streaming.stream.lane import Ending
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.second_pass import SecondPass

END = -2.0


def weight(config: StreamConfig) -> float:
    return config.weights.get("neural_lm", 0.5)


class Likes:
    """A scorer that has a log-probability for each word, and remembers what it was asked."""

    def __init__(self, **words: float) -> None:
        self.words = words
        self.asked: list[list[list[str]]] = []

    def score(self, lists):
        self.asked += lists
        return [
            None
            if ["endless"] in own
            else [SentenceScore(tuple(self.words.get(w, -9.0) for w in s), END) for s in own]
            for own in lists
        ]


def scored(text: str, score: float, boosted: str = "") -> Scored:
    words = [
        SpokenWord(word, place, place + 1, word == boosted)
        for place, word in enumerate(text.split())
    ]
    return Scored(SimpleNamespace(words=words, text=text), score)


def ending(*candidates: Scored, search="graph", **options) -> Ending:
    stream = SimpleNamespace(config=StreamConfig(**options), search=search)
    return Ending(stream, "endpoint", 0, [each.hypothesis for each in candidates], [*candidates])


def ranked(found: Ending) -> list[tuple[str, float]]:
    return [(each.hypothesis.text, pytest.approx(each.score)) for each in found.scored]


def test_its_word_counts_beside_the_second_pass():
    found = ending(scored("wreck a", -1.0), scored("recognise", -2.0))
    NeuralRescoring(Likes(wreck=-6.0, a=-1.0, recognise=-3.0), weight)([found])
    assert ranked(found) == [("recognise", -2.0 + 0.5 * -5.0), ("wreck a", -1.0 + 0.5 * -9.0)]


def test_a_stream_may_weigh_it_otherwise_or_not_at_all():
    words = Likes(wreck=-6.0, a=-1.0, recognise=-3.0)
    for asked, best in ((0.1, "wreck a"), (0.9, "recognise")):
        weights = {"neural_lm": asked}
        found = ending(scored("wreck a", -1.0), scored("recognise", -2.0), weights=weights)
        NeuralRescoring(words, weight)([found])
        assert found.scored[0].hypothesis.text == best
    words.asked = []
    without = ending(scored("a", -1.0), scored("b", -2.0), weights={"neural_lm": 0.0})
    NeuralRescoring(words, weight)([without])
    assert not words.asked
    assert ranked(without) == [("a", -1.0), ("b", -2.0)]


@pytest.mark.parametrize(
    ("search", "mode"),
    [("prefix", "attention_rescoring"), ("graph", "ctc_wfst_beam_search"), ("prefix", "attention")],
)
def test_only_the_second_pass_over_a_graph_asks_it(search, mode):
    words = Likes()
    found = ending(scored("a", -1.0), scored("b", -1.5), search=search, mode=mode)
    NeuralRescoring(words, weight)([found])
    assert not words.asked


def test_it_is_asked_only_about_what_is_within_reach():
    words = Likes(a=-30.0, b=-20.0, far=0.0)
    found = ending(scored("a", 0.0), scored("b", -1.0), scored("far", -REACH - 0.1))
    NeuralRescoring(words, weight)([found])
    assert words.asked == [[["a"], ["b"]]]
    assert [text for text, _ in ranked(found)] == ["b", "a", "far"]
    scores = [each.score for each in found.scored]
    assert scores == sorted(scores, reverse=True)


def test_it_is_asked_about_so_many_candidates_at_most():
    words = Likes()
    found = ending(*(scored(f"word{place}", -0.1 * place) for place in range(MOST_ASKED + 5)))
    NeuralRescoring(words, weight)([found])
    assert len(words.asked[0]) == MOST_ASKED
    assert len(found.scored) == MOST_ASKED + 5


def test_it_is_not_asked_where_there_is_no_choice():
    words = Likes()
    alone, hopeless, silent = ending(scored("a", 0.0)), ending(), ending(scored("", 0.0))
    far = ending(scored("a", 0.0), scored("b", -REACH - 1.0))
    NeuralRescoring(words, weight)([alone, hopeless, silent, far])
    assert not words.asked


def test_a_boosted_word_counts_at_least_so_much():
    words = Likes(alma=-40.0, almost=-6.0)
    found = ending(scored("almost", -1.0), scored("alma", -1.5, boosted="alma"))
    NeuralRescoring(words, weight)([found])
    assert ranked(found) == [
        ("almost", -1.0 + 0.5 * (-6.0 + END)),
        ("alma", -1.5 + 0.5 * (LEAST_BOOSTED + END)),
    ]


def test_segments_that_are_too_long_for_it_keep_their_ranking():
    long = ending(scored("endless", -1.0), scored("b", -2.0))
    other = ending(scored("a", -1.0), scored("b", -2.0))
    NeuralRescoring(Likes(a=-20.0, b=-1.0), weight)([long, other])
    assert ranked(long) == [("endless", -1.0), ("b", -2.0)]
    assert other.scored[0].hypothesis.text == "b"


class Dislikes:
    """A scorer that would rather hear anything but one word."""

    network = SimpleNamespace(parameters=list, config=SimpleNamespace(vocab_size=3))

    def __init__(self, word: str) -> None:
        self.word = word

    def with_precision(self, precision):
        return self

    def score(self, lists):
        return [
            [SentenceScore(tuple(-90.0 * (w == self.word) for w in s), 0.0) for s in own]
            for own in lists
        ]


def test_a_final_is_what_it_prefers(make_graph_engine, sounds, monkeypatch):
    """三四 is one word of the graph, or two that sound alike and cost more.

    The model that hears tones has no attention decoder to be asked.
    """
    monkeypatch.setattr(SecondPass, "_score", lambda *_: None)
    engine = make_graph_engine(sentences=Dislikes("三四"))
    samples = sounds.speech("一三四")

    def words(**weights):
        [final] = sounds.transcribe(engine, samples, StreamConfig(weights=weights)).finals
        return [word.text for word in final.alternatives[0].words]

    assert words(neural_lm=0.0) == ["一", "三四"]
    assert words() == ["一", "三", "四"]
    assert engine.model.parts["neural_lm"] is not None


def test_who_has_none_is_told_so(graph_engine, sounds):
    config = StreamConfig(weights={"neural_lm": 0.5})
    with pytest.raises(InvalidStreamConfig, match="neural_lm_weight: there is no neural"):
        sounds.transcribe(graph_engine, sounds.speech("一"), config)
