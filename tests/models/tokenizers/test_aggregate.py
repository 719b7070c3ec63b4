"""Tokenizers of several languages, whose units follow one another."""

import pytest

from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.aggregate import AggregateTokenizer
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable


def characters(symbols: str) -> CharTokenizer:
    return CharTokenizer(UnitTable.of(["<unk>", *symbols], "units"))


@pytest.fixture
def tokenizer() -> AggregateTokenizer:
    return AggregateTokenizer([characters("▁ab"), characters("▁aé")])


def test_units_of_the_second_language_follow_those_of_the_first(tokenizer):
    assert tokenizer.vocab_size == 8
    assert [tokenizer.token(unit) for unit in (3, 4, 7)] == ["b", "<unk>", "é"]


def test_text_has_the_units_of_the_first_language_that_can_write_it(tokenizer):
    assert tokenizer.encode("ab") == [2, 3]
    assert tokenizer.encode("aé") == [6, 7]
    assert tokenizer.split("aé") == ["a", "é"]
    with pytest.raises(UnencodableText, match="'é'"):
        tokenizer.encode("bé")
    assert tokenizer.split("bé") == ["b", "é"]


def test_units_of_all_languages_are_spelt_together(tokenizer):
    units = [0, 2, 3, 5, 6, 7, 4]
    assert tokenizer.decode(units) == "ab aé"
    assert tokenizer.word_spans(units) == [("ab", 1, 3), ("aé", 4, 6)]


def test_it_cannot_be_written_or_empty(tmp_path, tokenizer):
    with pytest.raises(TokenizerError, match="cannot be written"):
        tokenizer.save(tmp_path)
    with pytest.raises(TokenizerError, match="has none"):
        AggregateTokenizer([])


def test_marks_of_any_language_are_no_text():
    marks = UnitTable.of(["b", "<EOU>", "<0xC3>", "<0xA9>"], "units")
    tokenizer = AggregateTokenizer([characters("▁a"), CharTokenizer(marks)])
    assert tokenizer.decode([2, 4, 1, 3]) == "a b"
    assert tokenizer.decode([2, 5, 6, 3]) == "aéb"
    assert tokenizer.word_spans([4, 2, 5, 6]) == [("aé", 1, 3)]
