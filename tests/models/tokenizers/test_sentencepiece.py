"""Sentencepiece's own units: pieces by its ids, marks without text, bytes put together."""

import io

import pytest
import sentencepiece

from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.sentencepiece import SentencePieceTokenizer

SENTENCES = ["the quick brown fox", "jumps over the lazy dog", "and over the other fox"] * 20


def train(sentences: list[str] = SENTENCES, **changes: object) -> bytes:
    model = io.BytesIO()
    wanted = {
        "vocab_size": 48, "model_type": "bpe", "bos_id": -1, "eos_id": -1,
        "user_defined_symbols": ["<|en|>", "<EOU>", "<x"], "minloglevel": 2,
    }  # fmt: skip
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, **(wanted | changes)
    )
    return model.getvalue()


@pytest.fixture(scope="module")
def tokenizer() -> SentencePieceTokenizer:
    return SentencePieceTokenizer(train(), "x.model")


@pytest.fixture(scope="module")
def with_bytes() -> SentencePieceTokenizer:
    return SentencePieceTokenizer(train(vocab_size=310, byte_fallback=True), "x.model")


def test_ids_are_sentencepieces(tokenizer):
    model = sentencepiece.SentencePieceProcessor(model_proto=train())
    text = "the lazy fox jumps"
    assert tokenizer.vocab_size == len(model) == 48
    assert tokenizer.encode(text) == model.encode(text)
    assert tokenizer.decode(model.encode(text)) == text
    assert tokenizer.token(0) == "<unk>"


def test_marks_have_no_text(tokenizer):
    marks = [tokenizer.units.ids[mark] for mark in ("<unk>", "<|en|>", "<EOU>")]
    the, fox = tokenizer.encode("the"), tokenizer.encode("fox")
    units = [marks[1], *the, marks[0], *fox, marks[2]]
    assert tokenizer.decode(units) == "the fox"
    assert [word for word, _, _ in tokenizer.word_spans(units)] == ["the", "fox"]
    assert tokenizer.decode([tokenizer.units.ids["<x"]]) == "<x"


def test_words_know_their_units(tokenizer):
    the, fox = tokenizer.encode("the"), tokenizer.encode("fox")
    assert tokenizer.word_spans(the + fox) == [
        ("the", 0, len(the)),
        ("fox", len(the), len(the + fox)),
    ]


def test_text_without_units_is_refused(tokenizer):
    with pytest.raises(UnencodableText, match="no unit for"):
        tokenizer.encode("the 狐")
    with pytest.raises(UnencodableText, match="nothing in it"):
        tokenizer.encode(" ")


def test_cjk_characters_are_not_split_off():
    proto = train(["你好世界 你好"] * 20, vocab_size=12, user_defined_symbols=[])
    assert SentencePieceTokenizer(proto, "x.model").split("你好") == ["▁你好"]


def test_bytes_that_follow_one_another_are_a_character(with_bytes):
    units = with_bytes.encode("the 狐 fox")
    assert with_bytes.decode(units) == "the 狐 fox"
    assert [word for word, _, _ in with_bytes.word_spans(units)] == ["the", "狐", "fox"]
    unfinished = units[: units.index(with_bytes.units.ids["<0xE7>"]) + 1]
    assert with_bytes.decode(unfinished) == "the \ufffd"


def test_what_is_saved_is_loaded_with_the_same_units(tmp_path, tokenizer):
    tokenizer.save(tmp_path)
    again = load_tokenizer(tmp_path)
    assert again.encode("the lazy fox") == tokenizer.encode("the lazy fox")


@pytest.mark.parametrize("proto", [b"", b"garbage" * 20])
def test_a_spoilt_model_is_named(proto):
    with pytest.raises(TokenizerError, match=r"x\.model"):
        SentencePieceTokenizer(proto, "x.model")
