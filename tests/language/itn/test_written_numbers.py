import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from earshot.language.itn.written_numbers import written_numbers


def written(text):
    """The text with its numbers as people write them."""
    words = text.split()
    for number in reversed(written_numbers(words)):
        words[number.first : number.stop] = [number.text]
    return " ".join(words)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("one of us saw twenty three people", "one of us saw 23 people"),
        ("two hundred and five", "205"),
        ("seventy five thousand in two thousand and four", "75,000 in 2004"),
        ("one point five million people", "1.5 million people"),
        ("the twenty first century", "the 21st century"),
        ("ninety nine point nine per cent or five percent", "99.9% or 5%"),
    ],
)
def test_numbers_from_ten_on_become_figures(said, read):
    assert written(said) == read


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("twelve dollars and fifty cents", "$12.50"),
        ("one dollar five cents", "$1.05"),
        ("three million dollars", "$3 million"),
        ("ten thousand dollars and a hat", "$10,000 and a hat"),
        ("ten dollars and a half", "10 dollars and a half"),
        ("a dollar or five cents", "a dollar or five cents"),
    ],
)
def test_dollars_become_money(said, read):
    assert written(said) == read


@pytest.mark.parametrize(
    "said",
    [
        "twelve dollars fifty",
        "five dollars and ten",
        "fifty dollars or sixty",
        "twelve dollars oh five",
        "a dollar fifty or two bucks twenty five",
    ],
)
def test_dollars_and_what_may_be_their_cents_stay_words(said):
    assert written(said) == said


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("ten dollars and twenty dollars", "$10 and $20"),
        ("five dollars and ten percent", "$5 and 10%"),
        ("five dollars and two hundred people", "$5 and 200 people"),
        ("three million dollars and fifty people", "$3 million and 50 people"),
        ("ten dollars to twenty people", "$10 to 20 people"),
    ],
)
def test_dollars_before_what_cannot_be_their_cents_are_money(said, read):
    assert written(said) == read


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("may fifth nineteen ninety eight", "May 5th 1998"),
        ("june the third", "June the 3rd"),
        ("the twenty second of march", "the 22nd of March"),
        ("the fifth of may nineteen ninety eight", "the 5th of May 1998"),
        ("in twenty twenty as since nineteen o five", "in 2020 as since 1905"),
        ("by nineteen fourteen and nineteen eighteen", "by 1914 and 1918"),
        ("not before nineteen ninety nor in march twenty ten", "not before 1990 nor in march 2010"),
        ("i may first go home and she may second that", None),
        ("nineteen fifty dollars", None),
    ],
)
def test_dates_are_known_by_their_form_and_years_by_what_is_before_them(said, read):
    assert written(said) == (read or said)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("call five five five one two three four", "call 5551234"),
        ("o five five", "055"),
        ("one two three testing", "one two three testing"),
        ("five five five oh one nine nine", "5550199"),
        ("oh seven seven oh nine one two three now", "07709123 now"),
        ("flight four five oh oh", "flight 4500"),
    ],
)
def test_three_digits_or_more_are_written_together(said, read):
    assert written(said) == read


@pytest.mark.parametrize(
    "said",
    [
        "double o seven",
        "six one seven double five one two three",
        "oh nine one one is the number",
        "call nine one one oh please",
        "five five five twelve oh nine one two three",
        "at five oh five or five o five",
        "one oh one dalmatians",
    ],
)
def test_digits_in_doubt_are_not_written_in_part(said):
    assert written(said) == said


DIGITS = ["zero", "oh", "o", "one", "two", "five", "nine"]


@given(st.lists(st.sampled_from(DIGITS), min_size=1, max_size=12))
def test_of_digits_all_are_written_or_none(words):
    said = " ".join(words)
    assert written(said) == said or written(said).isdigit()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("oh twenty people came", "oh 20 people came"),
        ("the twenty first oh ten more", "the 21st oh 10 more"),
        ("two point oh five", "2.05"),
        ("one point five oh well", "one point five oh well"),
        ("in nineteen oh five", "in 1905"),
    ],
)
def test_an_oh_is_a_zero_only_behind_a_number(said, read):
    assert written(said) == read


@pytest.mark.parametrize("said", ["o ten people", "o five hundred", "two o two hundred"])
def test_an_o_before_a_larger_number_is_no_digit_of_it(said):
    assert written(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "a second chance for the first one",
        "one in a million and a hundred and one dalmatians",
        "hundreds of people in the fifties",
        "eleven forty five",
        "quarter past ten",
        "eleven o'clock",
        "nineteen oh five",
        "sixty second intervals",
        "a tenth and one third",
        "one hundred and two hundred",
        "two million three hundred thousand",
        "two million and thirty",
        "point fifteen",
    ],
)
def test_what_is_in_doubt_stays_words(said):
    assert written(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "one point zero point two",
        "twelve point five point two percent",
        "one point zero point two five four",
        "ten point fifteen",
    ],
)
def test_versions_stay_words_as_a_whole(said):
    assert written(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "kids aged eighteen nineteen and twenty",
        "kids of eighteen nineteen and twenty",
        "leaves at seventeen thirty",
        "not before seventeen thirty",
        "he turns nineteen twenty times a day",
        "that costs nineteen ninety nine",
        "twenty twenty dollar bills",
        "paid in twenty twenty dollar bills",
        "a class of seventeen eighteen year olds",
        "between eighteen twenty and nineteen fifty",
    ],
)
def test_a_pair_that_need_not_be_a_year_stays_words(said):
    assert written(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "the nineteen fifties",
        "the early nineteen hundreds",
        "the forty niners",
        "fifteen sixteenths of an inch",
        "ten or nineteen fifties",
    ],
)
def test_a_number_before_a_plural_number_stays_words(said):
    assert written(said) == said


def test_seconds_are_no_plural_number():
    assert written("in thirty seconds") == "in 30 seconds"


@pytest.mark.parametrize(
    "said",
    [
        "five or six hundred",
        "forty or fifty thousand dollars",
        "thirty or forty dollars",
        "ten or nine or eleven",
        "four and twenty blackbirds",
    ],
)
def test_alternatives_are_written_alike(said):
    assert written(said) == said


def test_alternatives_of_one_form_are_figures():
    assert written("ten to fifteen percent") == "10 to 15%"


ORDINARY = (
    "no one of them knew what to do with one",
    "oh one of us must second the motion",
    "wait a second or two",
    "half past ten or quarter past three p m",
    "he was born in the nineteen fifties or sixties",
    "two by two they came and a million thanks",
    "it was a fifty fifty chance and hindsight is twenty twenty",
    "the train at nineteen oh five leaves at seventeen thirty now",
    "coffee is a dollar fifty each",
    "i drink it for twelve dollars fifty times a day",
    "twenty twenties in an envelope",
    "the number is five double o seven or nine one one oh please",
    "from nineteen fifty to sixty",
    "in nineteen eighty four and eighty five",
    "o captain my captain",
)


@given(st.lists(st.sampled_from(ORDINARY), min_size=1, max_size=4))
@example(ORDINARY)
def test_ordinary_sentences_stay_as_they_are(sentences):
    said = " then ".join(sentences)
    assert written(said) == said


def test_an_empty_word_parts_what_is_around_it():
    assert written_numbers(["may", "", "fifth", "twelve", "", "three"])[0].text == "12"


WORDS = (
    "one three nine ten nineteen twenty hundred thousand million and or to point oh o zero a the "
    "of in double fifties may first second tenth hundredth dollars dollar cents percent per cent "
    "past half minus"
)


@given(st.lists(st.sampled_from(["", "_", "23", "²", *WORDS.split()]), max_size=9))
def test_any_words_give_pieces_in_order_without_empty_words(words):
    position = 0
    for number in written_numbers(words):
        assert position <= number.first < number.stop <= len(words)
        assert "" not in words[number.first : number.stop]
        position = number.stop
