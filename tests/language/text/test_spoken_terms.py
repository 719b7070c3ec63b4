"""Terms with figures and signs as people say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.language.text.spoken_terms import is_initialism, is_plain, readings
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.boosting.word_boosting import compile_word_boosts
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.stream_config import Boost
from earshot.streaming.words.fitted_words import words_of

TERMS = {
    "GPT-4": "g p t four", "COVID-19": "covid nineteen", "iPhone 15": "iphone fifteen",
    "24/7": "twenty four seven", "AT&T": "a t and t", "3M": "three m", "C++": "c plus plus",
    "mp3": "m p three", "H100": "h one hundred", "5G": "five g", "hello, world": "hello world",
    "10:30": "ten thirty", "café": "cafe", "naïve": "naive", "Zürich": "zurich",
    "€5": "five euros", "50%": "fifty percent", "1st": "first", "2026": "twenty twenty six",
    "3.5": "three point five", "R2-D2": "r two d two", "O'Brien": "o'brien", "C#": "c sharp",
    "$5": "five dollars", "$5 million": "five million dollars", "#1": "number one",
    "Q&A": "q and a", "R&D": "r and d", "Johnson & Johnson": "johnson and johnson",
    "Disney+": "disney plus", "7-Eleven": "seven eleven", "9/11": "nine eleven",
    "Boeing 747": "boeing seven forty seven", "911": "nine one one", "Windows 11": "windows eleven",
    "1,000": "one thousand", "RTX 4090": "r t x forty ninety", "USB-C": "usb c",
    "Dr. House": "doctor house", "U.S.": "u s", "Node.js": "node dot j s",
    "v2.0": "v two point zero", "Yahoo!": "yahoo", "example.com": "example dot com",
    "TCP/IP": "t c p i p", "WD-40": "w d forty", "1990s": "nineteen nineties", "80s": "eighties",
    "10:05 a.m.": "ten o five a m", "-40°": "minus forty degrees", "4K": "four k",
    "AC/DC": "a c d c", "1/2": "one half", "São Paulo": "sao paulo", '"quoted"': "quoted",
}  # fmt: skip
"""Plain ones, as people write them, and a way to say them."""
UNREADABLE = ("北京", "北京 2", "Москва", "★", "C★", "$AAPL", ",")


@pytest.fixture(scope="module")
def bundled():
    """Compiles a phrase for prefix search, and for the graph, of the bundled model."""
    model = load_model(bundled_model_dir())
    words = words_of(
        read_graph(bundled_model_dir() / "lm.graph.xz", UnpackedCopies.of_user()), model
    )
    search = GraphSearchConfig().of(model.model.config.decoding)

    def compiled(phrase):
        boosts = [Boost(phrase)]
        in_tokens = compile_boosts(boosts, model.tokenizer)
        return in_tokens, compile_word_boosts(boosts, words, search.options(GraphOptions()))

    known = len(words.graph.word_texts)

    def said(in_tokens, in_words):
        written = [model.tokenizer.decode(phrase.tokens) for phrase in in_tokens.phrases]
        texts = [
            " ".join(
                words.graph.word_texts[word]
                if word < known
                else in_words.table.oov_words[word - known][0].text
                for word in phrase.tokens
            ).casefold()
            for phrase in in_words.phrases
        ]
        return [text.casefold() for text in written], texts

    return compiled, said


@pytest.mark.parametrize(("term", "spoken"), TERMS.items())
def test_a_plain_term_is_boosted_as_it_is_said(bundled, term, spoken):
    compile_term, said = bundled
    in_tokens, in_words = compile_term(term)
    assert in_tokens.warnings == in_words.warnings == ()
    assert in_tokens.texts == in_words.texts == (term,)
    written, words = said(in_tokens, in_words)
    assert spoken in words
    assert spoken.replace("usb", "u s b") in written


@pytest.mark.parametrize("term", UNREADABLE)
def test_what_cannot_be_read_is_named(bundled, term):
    for found in bundled[0](term):
        assert [warning.phrase for warning in found.warnings] == [term]
        assert found.phrases == ()


@pytest.mark.parametrize(
    ("term", "spoken"),
    [
        ("COVID-19", ["COVID nineteen"]),
        ("AT&T", ["A T and T", "AT and T"]),
        ("2026", ["twenty twenty six", "two thousand twenty six", "two zero two six"]),
        ("H101", ["H one hundred one", "H one o one", "H one zero one"]),
        ("90210", ["ninety thousand two hundred ten", "nine zero two one zero"]),
        ("747s", ["seven hundred forty seven s"]),
        ("$3.5M", ["three point five million dollars"]),
        ("¥100", ["one hundred yen"]),
        ("5 €", ["five euros"]),
        ("3D, 2nd", ["three D second"]),
        ("2½", ["two and a half"]),
        ("1.2.3", ["one point two point three"]),
        ("-5°C", ["minus five degrees celsius"]),
        ("@me = you", ["at me equals you"]),
        ("#MeToo", ["hashtag MeToo"]),
        ("May 5", ["May fifth"]),
        ("ABBA™", ["ABBA"]),
        ("北京 2", ["北京 two"]),
        ("★", []),
        ("", []),
    ],
)
def test_a_term_has_several_readings_where_people_differ(term, spoken):
    assert list(readings(term)) == spoken


@given(st.text() | st.text("0123456789.,:/$€%&+#-' aBXs°½²"))
def test_readings_are_few_and_hold_nothing_but_words(term):
    found = readings(term)
    assert len(found) == len(set(found)) <= 8
    for word in " ".join(found).split():
        assert word.replace("'", "").isalpha()


def test_what_has_no_signs_is_plain():
    assert is_plain("Ice-Café d’Or")
    assert not any(map(is_plain, ("3M", "a.m.", "R&D")))


def test_capitals_without_a_vowel_are_an_initialism():
    assert is_initialism("GPT")
    assert not any(map(is_initialism, ("GPU", "gpt", "G", "G4")))
