"""What is counted of capitals and marks."""

from benchmarks.recognition.told_marks import NOTHING, Told, keys, pairs, tagged
from earshot.language.marks.marked_words import Mark, marked_words
from earshot.language.marks.pauses import END, UNKNOWN, pause_class
from earshot.service.library.utterance import Utterance
from earshot.streaming.events import Word


def test_words_are_compared_with_what_was_heard_in_their_place() -> None:
    told = tagged(marked_words("So. He Came home."))
    found = [(word.text, tag.mark) for word, tag in pairs(marked_words("So he went home."), told)]
    assert found == [
        ("so", Mark.STOP),
        ("he", Mark.NONE),
        ("went", Mark.NONE),
        ("home", Mark.STOP),
    ]


def test_a_word_that_was_not_heard_has_no_marks() -> None:
    true = marked_words("Yes, Ann went.")
    found = list(pairs(true, tagged(marked_words("Yes, went."))))
    assert [tag == NOTHING for _, tag in found] == [False, True, False]


def test_a_word_too_many_counts_for_the_marks_that_it_brings() -> None:
    told = Told()
    told.note(marked_words("Yes we can."), tagged(marked_words("Yes. No. We can.")), {})
    errors, full_stops, *_ = told.columns()
    assert (errors, full_stops) == ("33.3", "0.50")  # of three told one is true


def test_the_tagger_is_asked_with_the_pause_after_each_word() -> None:
    words = (Word("well-known", 0.0, 0.5, 1.0), Word("names", 1.0, 1.5, 1.0))
    utterance = Utterance("well-known names", words, 0.0, 1.5, 1.0, True, 2)
    assert keys(utterance) == [("well", UNKNOWN), ("known", pause_class(0.5)), ("names", END)]
