"""Whisper's tokens: those of OpenAI's code, and what a second pass asks of them."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.errors import TokenizerError
from earshot.models.whisper_tokenizer.files import TokenTables, read_tables
from earshot.models.whisper_tokenizer.tokenizer import (
    ENGLISH_ONLY_TOKENS,
    WhisperTokenizer,
    read_whisper_tokenizer,
)

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "whisper"
EXPECTED = json.loads((GOLDEN / "tokens.json").read_text())
TOKENIZER = read_whisper_tokenizer(GOLDEN / "hugging_face")


@pytest.mark.parametrize("text", EXPECTED["tokens"])
def test_text_falls_into_the_tokens_of_openais_code(text):
    assert TOKENIZER.encode(text) == EXPECTED["tokens"][text]
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


def test_all_tokens_write_what_openais_code_writes():
    assert TOKENIZER.decode(range(300)) == EXPECTED["decoded"]


def test_tokens_of_no_speech_are_those_of_openais_code():
    assert TOKENIZER.non_speech == set(EXPECTED["non_speech"])


@given(st.text())
def test_any_text_comes_back(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


def test_special_tokens_are_found_by_their_text():
    assert (TOKENIZER.end_of_text, TOKENIZER.start_of_transcript) == (300, 301)
    assert TOKENIZER.languages == {"en": 302, "de": 303}
    assert TOKENIZER.no_timestamps == 309
    assert TOKENIZER.first_timestamp == TOKENIZER.size == 310


def test_the_text_of_a_special_token_is_only_text():
    assert not set(TOKENIZER.encode("<|endoftext|>")) & set(range(300, 335))


def test_special_tokens_and_timestamps_write_nothing():
    assert TOKENIZER.decode([301, 302, 305, 309, 271, 310, 334, 300]) == " cat"


def test_a_special_token_writes_nothing_where_the_vocabulary_has_it_too():
    tables = read_tables(GOLDEN / "hugging_face")
    vocabulary = {**tables.vocabulary, "<|endoftext|>": 300}
    tokenizer = WhisperTokenizer(TokenTables(vocabulary, tables.merges, tables.special))
    assert tokenizer.decode([271, 300]) == " cat"
    assert tokenizer.size == 310


def test_half_a_letter_is_replaced():
    half = TOKENIZER.encode("ß")[:1]
    assert TOKENIZER.decode(half) == "\ufffd"
    assert TOKENIZER.piece(half[0]) == "ß".encode()[:1]


def test_a_multilingual_prompt_has_language_and_task():
    assert not TOKENIZER.english_only
    assert TOKENIZER.prompt("de") == [301, 303, 305, 309]
    with pytest.raises(TokenizerError, match="no language 'fr'"):
        TOKENIZER.prompt("fr")


def test_an_english_whisper_is_told_by_its_vocabulary():
    tables = read_tables(GOLDEN / "hugging_face")
    more = {text: token + ENGLISH_ONLY_TOKENS - 300 for text, token in tables.special.items()}
    english = WhisperTokenizer(TokenTables(tables.vocabulary, tables.merges, more))
    assert english.english_only
    assert english.prompt() == [ENGLISH_ONLY_TOKENS + 1, ENGLISH_ONLY_TOKENS + 9]
    with pytest.raises(TokenizerError, match="no language 'de'"):
        english.prompt("de")


def test_timestamps_may_be_listed():
    tables = read_tables(GOLDEN / "hugging_face")
    special = {**tables.special, "<|0.00|>": 310, "<|0.02|>": 311}
    assert (
        WhisperTokenizer(TokenTables(tables.vocabulary, tables.merges, special)).first_timestamp
        == 310
    )


def test_what_is_suppressed_leaves_marks_and_the_end():
    suppressed = TOKENIZER.suppressed
    assert TOKENIZER.non_speech < suppressed
    assert suppressed >= {301, 302, 303, 304, 305, 306, 307, 308, 309}
    assert not suppressed & {300, *TOKENIZER.encode(",.?!'-")}


def test_words_are_what_spaces_separate():
    tokens = [301, 302, *TOKENIZER.encode(" The cat, a fat  one.")]
    spans = TOKENIZER.word_spans([*tokens, 309, 310, 300])
    assert [word for word, _, _ in spans] == ["The", "cat,", "a", "fat", "one."]
    for word, first, stop in spans:
        assert TOKENIZER.decode(tokens[first:stop]).strip() == word
        assert TOKENIZER.begins_word(tokens[first])
    assert spans[0][1] == 2


def test_the_first_word_may_begin_without_a_space():
    assert [word for word, _, _ in TOKENIZER.word_spans(TOKENIZER.encode("Then one"))] == [
        "Then",
        "one",
    ]
    assert TOKENIZER.word_spans([301, 300]) == []


@given(st.lists(st.integers(0, 340)))
def test_words_hold_all_that_is_written(tokens):
    written = "".join(TOKENIZER.decode(tokens).split())
    spans = TOKENIZER.word_spans(tokens)
    assert all(first < stop for _, first, stop in spans)
    if "\ufffd" not in written:  # a letter may be cut by a token that begins a word
        assert "".join("".join(word.split()) for word, _, _ in spans) == written


def test_a_saved_tokenizer_is_the_same(tmp_path):
    TOKENIZER.save(tmp_path)
    again = read_whisper_tokenizer(tmp_path)
    for text in EXPECTED["tokens"]:
        assert again.encode(text) == TOKENIZER.encode(text)
    assert again.suppressed == TOKENIZER.suppressed
    assert again.languages == TOKENIZER.languages


def test_the_library_reads_what_is_saved(tmp_path):
    from tokenizers import Tokenizer

    TOKENIZER.save(tmp_path)
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.encode(" The cat<|endoftext|>").ids == [*TOKENIZER.encode(" The cat"), 300]


def test_parts_of_older_releases_are_the_same(tmp_path):
    for name in ("vocab.json", "merges.txt"):
        shutil.copyfile(GOLDEN / "hugging_face" / name, tmp_path / name)
    special = read_tables(GOLDEN / "hugging_face").special
    (tmp_path / "added_tokens.json").write_text(json.dumps(special))
    assert read_tables(tmp_path) == read_tables(GOLDEN / "hugging_face")
    (tmp_path / "added_tokens.json").unlink()
    added = {str(token): {"content": text, "special": True} for text, token in special.items()}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    assert read_tables(tmp_path) == read_tables(GOLDEN / "hugging_face")
