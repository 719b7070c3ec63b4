from dataclasses import replace

import pytest

from earshot.service.smart_format import smart_format
from earshot.service.written_words import WrittenWord
from earshot.streaming.events import Alternative, Final, Word


def final(text, boosted=(), separator=" "):
    """Each word lasts half a second; the n-th has confidence n / 10."""
    words = tuple(
        Word(word, index / 2, (index + 1) / 2, index / 10, word in boosted)
        for index, word in enumerate(text.split())
    )
    text = separator.join(text.split())
    return Final(0.0, 9.0, (Alternative(text, words, 0.5, -1.0),), True, False, "end")


def formatted(text, boosted=(), separator=" "):
    """The best alternative."""
    return smart_format(final(text, boosted, separator).alternatives[0])


def test_the_words_of_a_number_are_one_word_over_their_time():
    best = formatted("pay twenty three now")
    assert best.text == "pay 23 now"
    assert best.words[1] == WrittenWord("23", 0.5, 1.5, pytest.approx(0.15), False, "twenty three")
    assert [word.text for word in best.words] == ["pay", "23", "now"]


def test_nothing_else_of_a_final_changes():
    [heard] = final("iced tea please").alternatives
    made = smart_format(heard)
    assert made == replace(heard, words=made.words)
    assert [word.text for word in made.words] == ["iced", "tea", "please"]


def test_i_and_names_of_days_and_months_get_their_capital():
    best = formatted("i think i'm free on monday's eve in june")
    assert best.text == "I think I'm free on Monday's eve in June"
    assert [word.heard for word in best.words][:2] == ["i", "think"]


def test_months_that_are_words_too_get_theirs_in_dates_only():
    assert formatted("you may march on march third").text == "you may march on March 3rd"


def test_capital_letters_of_a_model_stay():
    assert formatted("I SAW TWENTY THREE").text == "I SAW 23"


def test_a_boosted_phrase_stays_as_the_request_wrote_it():
    best = formatted("twenty one pilots and thirty monday", boosted={"twenty", "one", "monday"})
    assert best.text == "twenty one pilots and 30 monday"
    assert [word.boosted for word in best.words] == [True, True, False, False, False, True]


def test_a_boosted_phrase_that_was_written_in_figures_is_written_so():
    heard = final("in twenty twenty six on monday", boosted={"twenty", "six", "monday"})
    [best] = heard.alternatives
    words = tuple(replace(word, read_out=word.boosted) for word in best.words)
    best = smart_format(replace(best, words=words))
    assert best.text == "in 2026 on Monday"
    assert [word.boosted for word in best.words] == [False, True, False, True]


def test_a_number_that_is_boosted_in_part_is_not_torn():
    assert formatted("twenty one people", boosted={"one"}).text == "twenty one people"


def test_stops_of_a_model_stay_and_part_numbers():
    said = "on monday, may fifth, nineteen ninety eight. there were one hundred, fifty of them"
    read = "on Monday, May 5th, 1998. there were one hundred, fifty of them"
    assert formatted(said).text == read


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("my number is nine zero zero seven one. oh no", "my number is 90071. oh no"),
        ("oh no. my number is nine zero zero seven one", "oh no. my number is 90071"),
        ("it is five five one two three four. two people came", "it is 551234. two people came"),
    ],
)
def test_a_number_ends_with_its_sentence_whatever_the_next_begins_with(said, read):
    assert formatted(said).text == read


@pytest.mark.parametrize(
    "written",
    [
        "I paid $5. One of them said 1,000, at 3:30 in 2026.",
        "It cost $5 million and $5 fifty.",
        "Nineteen 98, two thousand 26, $12 and fifty cents, 3:30 forty five.",
        "Call 5 five five one two three four.",
    ],
)
def test_figures_that_a_model_wrote_are_left_alone_with_the_numbers_beside_them(written):
    assert formatted(written).text == written


def test_a_mark_parts_a_number_from_a_models_figures():
    assert formatted("It was $5. Twenty people, 3 dogs, thirty cats").text == (
        "It was $5. 20 people, 3 dogs, 30 cats"
    )


def test_text_without_spaces_keeps_having_none():
    assert formatted("你 好", separator="").text == "你好"


def test_an_empty_final_stays_empty():
    assert formatted("").words == ()
