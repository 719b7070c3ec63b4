"""Words are written with capitals and marks, of letters alone."""

import pytest
from toy_tokens import END, PIECES, ToyTokens

from earshot.models.whisper_decoder.pen import Pen, WrittenWord, dressed, is_spoken, plainly


@pytest.fixture
def pen() -> Pen:
    return Pen(ToyTokens(), len(PIECES), END)


def forms(words) -> str:
    return " ".join(word.form for word in words)


def test_texts_are_made_of_letters_and_marks_and_an_end(pen):
    left_out = {PIECES[token] for token in range(len(PIECES)) if not pen.is_kept(token)}
    assert left_out == {"<start>", "<plain>", " 14", " Mr", "("}
    assert pen.is_kept(END)


@pytest.mark.parametrize(
    ("piece", "is_one"),
    [
        (b" ", True),
        (b"iced", True),
        (b" o'clock", True),
        (b"  ", False),
        (b" 14", False),
        (b"\xc3", False),
        (" größer".encode(), True),
        ("हिन्दी".encode(), True),
        ("\u0e35".encode(), True),  # a vowel above a letter of another token
        ("¿".encode(), False),
    ],
)
def test_a_space_before_a_word_may_be_a_token_of_its_own(piece, is_one):
    assert is_spoken(piece) is is_one


def test_what_is_written_is_read_as_words_with_their_marks(pen):
    words = [
        WrittenWord("red", "Red,"),
        WrittenWord("it's", "it's"),
        WrittenWord("blueish", "blueish."),
    ]
    assert pen.read(pen.write(words)) == words


def test_a_sentence_begins_with_a_capital_and_i_is_one(pen):
    assert forms(plainly(["red", "i", "i'm", "it"])) == "Red I I'm it"
    assert forms(plainly(["red"], starts_sentence=False)) == "red"


@pytest.mark.parametrize(
    ("words", "like", "written"),
    [
        ("red blue it", "Red, Blue. It?", "Red, Blue. It?"),
        ("red green it", "Red Blue. It?", "Red green. It?"),
        ("it red", "Red.", "It Red."),
        ("red", "Red blue.", "Red."),
        ("i red", "", "I red."),
        ("", "Red.", ""),
    ],
)
def test_words_are_dressed_like_those_of_another_text(words, like, written):
    own = [WrittenWord(form.rstrip(",.?").lower(), form) for form in like.split()]
    assert forms(dressed(words.split(), own)) == written
