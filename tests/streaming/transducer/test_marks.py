"""Marks that come late: where they are told."""

from earshot.streaming.transducer.marks import Marks
from earshot.streaming.transducer.transcript import Transcript

SYMBOLS = ("<unk>", "▁so", ".", "▁?", "...", "▁3.5", "'s", "▁")
SO, STOP, ASKED, DOTS, NUMBER, OWN, SPACE = range(1, 8)
MARKS = Marks(SYMBOLS)


def labels(*tokens: int, frames: tuple[int, ...]) -> Transcript:
    ends = tuple(frame + 1 for frame in frames)
    return Transcript(tokens, frames, ends, (-0.1,) * len(tokens), (-0.1,) * 40)


def test_a_mark_lasts_no_longer_than_the_word_before_it():
    placed = MARKS.placed(labels(SO, STOP, SO, frames=(3, 30, 31)))
    assert (placed.frames, placed.ends) == ((3, 3, 31), (4, 4, 32))
    assert placed.tokens == (SO, STOP, SO)


def test_several_marks_are_told_together():
    assert MARKS.placed(labels(SO, DOTS, ASKED, frames=(3, 20, 30))).frames == (3, 3, 3)


def test_no_text_begins_with_the_mark_of_the_one_before():
    placed = MARKS.placed(labels(STOP, SO, STOP, frames=(0, 2, 9)))
    assert (placed.tokens, placed.frames) == ((SO, STOP), (2, 2))
    assert len(placed.token_log_probs) == 2
    assert placed.length == 40


def test_marks_alone_are_no_text():
    assert MARKS.placed(labels(STOP, STOP, frames=(0, 5))).tokens == ()


def test_what_holds_more_than_marks_is_a_word():
    found = labels(SO, NUMBER, OWN, SPACE, frames=(1, 5, 6, 9))
    assert MARKS.placed(found) == found
