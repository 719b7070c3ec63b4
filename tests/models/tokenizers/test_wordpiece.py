"""Wordpieces: the longest from the left, and words put together again."""

import pytest

from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.wordpiece import LONGEST_WORD, WordpieceTokenizer

PIECES = [
    "[UNK]", "[CLS]", "a", "un", "##aff", "##able", "##a", "aff", ",", ".", "don", "'", "t",
    "你", "##好", "好", "A",
]  # fmt: skip


@pytest.fixture
def tokenizer() -> WordpieceTokenizer:
    return WordpieceTokenizer(PIECES, "vocab.txt")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("unaffable", ["un", "##aff", "##able"]),
        ("aff, a.", ["aff", ",", "a", "."]),
        ("don't", ["don", "'", "t"]),
        ("你好", ["你", "好"]),
        ("aa", ["a", "##a"]),
        ("  a   a ", ["a", "a"]),
    ],
)
def test_a_word_falls_into_the_longest_pieces(tokenizer, text, pieces):
    assert tokenizer.split(text) == pieces
    assert [tokenizer.token(unit) for unit in tokenizer.encode(text)] == pieces


def test_a_word_without_pieces_is_refused_by_name(tokenizer):
    with pytest.raises(UnencodableText, match="'unx'"):
        tokenizer.encode("a unx a")
    with pytest.raises(UnencodableText):
        tokenizer.encode("a" * (LONGEST_WORD + 1))


def test_casing_is_the_tables(tokenizer):
    assert tokenizer.split("A a") == ["A", "a"]


def test_words_have_spaces_between_and_marks_none_before(tokenizer):
    units = tokenizer.encode("unaffable, aff a.")
    assert tokenizer.decode(units) == "unaffable, aff a."
    assert tokenizer.word_spans(units) == [
        ("unaffable,", 0, 4),
        ("aff", 4, 5),
        ("a.", 5, 7),
    ]


def test_special_pieces_have_no_text(tokenizer):
    assert tokenizer.decode([1, 2, 0, 3, 4]) == "a unaff"
    assert tokenizer.decode([0, 1]) == ""


def test_a_continuation_that_follows_nothing_is_a_word(tokenizer):
    assert tokenizer.decode([4, 5]) == "affable"


def test_what_is_saved_is_the_table(tmp_path, tokenizer):
    tokenizer.save(tmp_path)
    assert (tmp_path / "units.txt").read_text().startswith("[UNK] 0\n[CLS] 1\na 2\n")


@pytest.mark.parametrize("pieces", [[], ["a", "a"], ["a", ""]])
def test_a_spoilt_table_is_named(pieces):
    with pytest.raises(TokenizerError, match=r"vocab\.txt"):
        WordpieceTokenizer(pieces, "vocab.txt")
