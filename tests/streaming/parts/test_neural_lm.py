"""What the neural language model adds to the scores of candidates."""

from types import SimpleNamespace

import pytest

from earshot.models.neural_lm.sentence_scorer import SentenceScore
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.parts.neural_lm import LEAST_BOOSTED, NeuralRescoring
from earshot.streaming.parts.rescorer import Candidates, CandidateWord
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


def candidates(*texts: str, boosted: str = "", search="graph", **options) -> Candidates:
    stream = SimpleNamespace(config=StreamConfig(**options), search=search)
    words = [[CandidateWord(word, word == boosted) for word in text.split()] for text in texts]
    return Candidates(stream, words)


def gained(words: Likes, *asked: Candidates) -> list[list[float]]:
    return NeuralRescoring(words, weight)(asked)


def test_its_word_counts_with_its_weight():
    words = Likes(wreck=-6.0, a=-1.0, recognise=-3.0)
    assert gained(words, candidates("wreck a", "recognise")) == [[0.5 * -9.0, 0.5 * -5.0]]


def test_a_stream_may_weigh_it_otherwise_or_not_at_all():
    words = Likes(a=-1.0, b=-3.0)
    by_weight = [candidates("a", "b", weights={"neural_lm": each}) for each in (0.25, 0.0, 1.0)]
    assert gained(words, *by_weight) == [[-0.75, -1.25], [0.0, 0.0], [-3.0, -5.0]]
    assert len(words.asked) == 2


@pytest.mark.parametrize(
    ("search", "mode"),
    [("prefix", "attention_rescoring"), ("graph", "ctc_wfst_beam_search"), ("prefix", "attention")],
)
def test_only_the_second_pass_over_a_graph_asks_it(search, mode):
    words = Likes()
    assert gained(words, candidates("a", "b", search=search, mode=mode)) == [[0.0, 0.0]]
    assert not words.asked


def test_it_is_not_asked_where_there_is_no_choice():
    words = Likes()
    assert gained(words, candidates("a"), candidates()) == [[0.0], []]
    assert not words.asked


def test_a_boosted_word_counts_at_least_so_much():
    words = Likes(alma=-40.0, almost=-6.0)
    assert gained(words, candidates("almost", "alma", boosted="alma")) == [
        [0.5 * (-6.0 + END), 0.5 * (LEAST_BOOSTED + END)]
    ]


def test_of_segments_that_are_too_long_for_it_it_says_nothing():
    words = Likes(a=-20.0, b=-1.0)
    assert gained(words, candidates("endless", "b"), candidates("a", "b")) == [
        [0.0, 0.0],
        [-11.0, -1.5],
    ]


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
