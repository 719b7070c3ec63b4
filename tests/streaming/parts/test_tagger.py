"""Written forms of words, for partials and finals of a stream."""

from types import SimpleNamespace
from typing import ClassVar

import pytest

from earshot.language.marks.marked_words import Capital, Mark
from earshot.language.marks.pauses import END, NEWEST
from earshot.language.marks.word_tagger import Tag, Tagged
from earshot.streaming.parts.word_tagging import WordTagging
from earshot.streaming.results.hypothesis import Best, SpokenWord
from earshot.streaming.results.results import Scored, SegmentClock
from earshot.streaming.stream.lane import Ending
from earshot.streaming.stream_config import StreamConfig

CLOCK = SegmentClock(0.0, 60.0, 0.1)


class Tells:
    """A tagger that knows some words, and remembers what it was asked."""

    forms: ClassVar = {"mcgee": "McGee"}

    def __init__(self, **tags: tuple[int, int]) -> None:
        self.tags = tags
        self.asked: list[tuple[list, Tagged]] = []

    def tag_all(self, asked):
        return [self.tag(*each) for each in asked]

    def tag(self, keys, known):
        self.asked.append((list(keys), known))
        tags = [self.tags.get(word.replace("'", ""), (0, 0)) for word, _ in keys]
        return Tagged(tuple(keys), tuple(Tag(Capital(c), Mark(m)) for c, m in tags))


def heard(text: str, *, frames=None, boosted=(), read_out=(), written=None):
    words = [
        SpokenWord(word, place, place + 1, word in boosted, word in read_out, written)
        for place, word in enumerate(text.split())
    ]
    return SimpleNamespace(
        words=words,
        text=text,
        frames=frames or range(5, 5 + 5 * len(words), 5),
        tokens=(),
        score=0.0,
        word_confidences=None,
        token_log_probs=(),
        ends=None,
    )


def stream(**options):
    config = StreamConfig(punctuate=True, **options)
    return SimpleNamespace(config=config, segment=object(), clock=CLOCK, tags=None)


def partial(tagging, of, hypothesis):
    [best] = tagging.partials([of], [Best(hypothesis, 1)])
    assert best.stable_words == 1
    return shown(best.hypothesis)


def final(tagging, of, *hypotheses, cause="endpoint"):
    ending = Ending(of, cause, 0, [], [Scored(each, -1.0) for each in hypotheses])
    tagging([ending], lambda: None)
    return [shown(each.hypothesis) for each in ending.scored]


def shown(hypothesis):
    return " ".join(word.written or f"<{word.text}>" for word in hypothesis.words)


TAGS = {"anna": (1, 1), "now": (0, 2), "here": (0, 3), "nasa": (2, 0), "mcgee": (3, 0)}


def test_each_word_gets_its_capital_and_its_mark_and_keeps_its_text():
    hypothesis = heard("anna is here now nasa and mcgee")
    tagging = WordTagging(Tells(**TAGS))
    of = stream()
    [best] = tagging.partials([of], [Best(hypothesis, 0)])
    assert shown(best.hypothesis) == "Anna, is here? Now. NASA and McGee"
    assert best.hypothesis.text == hypothesis.text
    assert final(tagging, of, hypothesis) == ["Anna, is here? Now. NASA and McGee"]


def test_streams_that_do_not_ask_are_not_tagged():
    tells = Tells(**TAGS)
    quiet = SimpleNamespace(config=StreamConfig(), segment=object(), clock=CLOCK, tags=None)
    assert partial(WordTagging(tells), quiet, heard("anna")) == "<anna>"
    assert final(WordTagging(tells), quiet, heard("anna")) == ["<anna>"]
    assert not tells.asked


def test_pauses_are_told_and_what_comes_after_the_last_word():
    tells = Tells()
    tagging, of = WordTagging(tells), stream()
    partial(tagging, of, heard("well yes", frames=[5, 15]))
    final(tagging, of, heard("well yes", frames=[5, 15]))
    final(tagging, of, heard("well yes", frames=[5, 15]), cause="max_utterance")
    asked = [[pause for _, pause in keys] for keys, _ in tells.asked]
    assert asked == [[5, NEWEST], [5, END], [5, NEWEST]]


def test_a_tagger_is_told_what_it_said_before():
    tells = Tells(**TAGS)
    tagging, of = WordTagging(tells), stream()
    partial(tagging, of, heard("anna"))
    partial(tagging, of, heard("anna is"))
    assert [len(known.keys) for _, known in tells.asked] == [0, 1]


def test_a_sentence_goes_on_in_the_next_segment_unless_it_has_ended():
    tagging, of = WordTagging(Tells(**TAGS)), stream()
    assert final(tagging, of, heard("tom and")) == ["Tom and"]
    of.segment = object()
    assert final(tagging, of, heard("tim now")) == ["tim now."]
    of.segment = object()
    assert final(tagging, of, heard("")) == [""]
    of.segment = object()
    assert partial(tagging, of, heard("tim")) == "Tim"


def test_a_final_that_is_tagged_again_is_the_same():
    tagging, of = WordTagging(Tells(**TAGS)), stream()
    twice = [final(tagging, of, heard("tom now")) for _ in range(2)]
    assert twice == [["Tom now."]] * 2


def test_alternatives_that_are_told_are_written_and_the_best_one_leads_on():
    tells = Tells(**TAGS)
    tagging, of = WordTagging(tells), stream(alternatives=2)
    told = final(tagging, of, heard("so now"), heard("so know"), heard("sow now"))
    assert told == ["So now.", "So know", "<sow> <now>"]
    of.segment = object()
    assert partial(tagging, of, heard("anna")) == "Anna,"
    assert partial(tagging, of, heard("it")) == "It"


@pytest.mark.parametrize(
    ("hypothesis", "written"),
    [
        (heard("dr pepper now", boosted=("dr", "pepper")), "dr pepper now."),
        (heard("iPhone now", boosted=("iPhone",)), "iPhone now."),
        (heard("now Yahoo!", boosted=("Yahoo!",)), "Now. Yahoo!"),
        (heard("so anna", boosted=("anna",), read_out=("anna",)), "So Anna,"),
        (heard("ANNA IS HERE"), "Anna, is here?"),
        (heard("now McAdam"), "Now. McAdam"),
        (heard("so i'm here"), "So I'm here?"),
        (heard("Well, anna is"), "<Well,> <anna> <is>"),
        (heard("anna", written="ANNA!"), "ANNA!"),
    ],
)
def test_words_that_somebody_has_written_stay_as_they_are(hypothesis, written):
    assert partial(WordTagging(Tells(**TAGS)), stream(), hypothesis) == written
