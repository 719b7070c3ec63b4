"""A byte-level BPE that is cut down to some of its tokens."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.errors import TokenizerError
from earshot.models.whisper_tokenizer.fewer_tokens import fewer_tokens
from earshot.models.whisper_tokenizer.files import read_tables, write_tables
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer, read_whisper_tokenizer

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "whisper" / "hugging_face"
WHOLE = read_tables(GOLDEN)
TOKENIZER = WhisperTokenizer(WHOLE)
SPECIAL = (300, 301, 302, 305, 309)


def cut_to(count, wanted=range(300)):
    return fewer_tokens(WHOLE, count, wanted, SPECIAL)


def test_the_first_tokens_with_their_merges_are_what_an_older_vocabulary_was():
    cut = cut_to(280)
    assert cut.vocabulary == {text: t for text, t in WHOLE.vocabulary.items() if t < 280}
    assert cut.merges == WHOLE.merges[:24]
    assert list(cut.special.values()) == [280, 281, 282, 283, 284]


def test_a_kept_token_brings_what_it_is_merged_from():
    (cat,) = TOKENIZER.encode(" cat")
    cut = WhisperTokenizer(cut_to(260, [cat, *range(300)]))
    assert len(cut.encode(" cat")) == 1
    assert cut.decode(cut.encode(" cat")) == " cat"


def test_a_token_without_room_for_its_parts_is_left_out():
    (cat,) = TOKENIZER.encode(" cat")
    cut = WhisperTokenizer(cut_to(257, [cat, *range(300)]))
    assert len(cut.encode(" cat")) > 1
    assert cut.size == 257 + len(SPECIAL)


@given(st.text(), st.integers(256, 300), st.randoms(use_true_random=False))
def test_any_text_comes_back(text: str, count: int, chance: random.Random):
    wanted = list(range(300))
    chance.shuffle(wanted)
    cut = WhisperTokenizer(cut_to(count, wanted))
    assert cut.decode(cut.encode(text)) == text


@given(st.text(alphabet=" catheinds"), st.integers(256, 300))
def test_a_text_of_kept_tokens_falls_into_them(text: str, count: int):
    tokens = TOKENIZER.encode(text)
    cut = WhisperTokenizer(cut_to(count))
    if max(tokens, default=0) < count:
        assert cut.encode(text) == tokens


def test_its_prompt_and_its_end_are_there():
    cut = WhisperTokenizer(cut_to(280))
    assert cut.end_of_text == 280
    assert cut.prompt("en") == [281, 282, 283, 284]
    with pytest.raises(TokenizerError, match="no language 'de'"):
        cut.prompt("de")


def test_a_cut_english_one_is_asked_for_no_language():
    cut = WhisperTokenizer(fewer_tokens(WHOLE, 280, range(300), (300, 301, 309)))
    assert cut.english_only
    assert cut.prompt() == [281, 282]


def test_its_files_are_read_and_small(tmp_path):
    cut = cut_to(280)
    write_tables(tmp_path, cut)
    again = read_tables(tmp_path)
    assert (again.vocabulary, again.merges, again.special) == (
        cut.vocabulary,
        cut.merges,
        cut.special,
    )
    assert read_whisper_tokenizer(tmp_path).size == 285
    size = (tmp_path / "tokenizer.json").stat().st_size
    assert size < (GOLDEN / "tokenizer.json").stat().st_size


@pytest.mark.parametrize(("count", "named"), [(255, "bytes"), (301, "the 300 there are")])
def test_as_many_tokens_as_cannot_be_are_refused(count: int, named: str):
    with pytest.raises(TokenizerError, match=named):
        cut_to(count)
