"""Texts as numbers, and the choice of words."""

import pytest

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.ngrams.text import END, OUTSIDE, SPECIAL_WORDS, START, Text, choose_vocabulary


def test_sentences_stand_between_marks() -> None:
    text = Text.of([["a", "b"], ["a"]])
    assert [text.words[i] for i in text.ids] == ["<s>", "a", "b", "</s>", "<s>", "a", "</s>"]
    assert text.num_words == 3


def test_a_word_that_the_vocabulary_lacks_is_outside() -> None:
    text = Text.of([["a", "b", "<unk>"]])
    assert text.in_words_of([*SPECIAL_WORDS, "b"]).tolist() == [START, OUTSIDE, 3, OUTSIDE, END]


def test_the_most_frequent_words_are_chosen_and_those_required() -> None:
    texts = [Text.of(["bca", "b"]), Text.of(["c"])]
    assert choose_vocabulary(texts, 2) == [*SPECIAL_WORDS, "b", "c"]
    assert choose_vocabulary(texts, 1, ["x", "<unk>"]) == [*SPECIAL_WORDS, "b", "x"]
    assert choose_vocabulary(texts, 0, ["x", "y"]) == [*SPECIAL_WORDS, "x", "y"]


def test_of_nothing_there_are_no_words() -> None:
    with pytest.raises(LanguageModelError, match="no words"):
        choose_vocabulary([Text.of([])], 10)
