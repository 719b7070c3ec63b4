"""A model with Whisper's decoder is saved and read with the tokens of its decoder."""

from dataclasses import replace
from pathlib import Path

import pytest
from tiny_models import TINY

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer, read_whisper_tokenizer

TOKENS = Path(__file__).resolve().parents[2] / "golden" / "whisper" / "hugging_face"
UNITS = UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate("_abcdefghij")), "letters")


@pytest.fixture
def writer() -> WhisperTokenizer:
    return read_whisper_tokenizer(TOKENS)


@pytest.fixture
def model(writer) -> U2Model:
    decoder = WhisperDecoderConfig(
        vocab_size=writer.first_timestamp + 10, positions=20, size=16, attention_heads=2,
        num_blocks=1, prompt=tuple(writer.prompt()), end=writer.end_of_text,
    )  # fmt: skip
    return U2Model(replace(TINY, decoder=decoder))


def test_its_tokens_are_those_that_were_saved(tmp_path, model, writer):
    save_model(tmp_path, model, CharTokenizer(UNITS), "tiny", writer=writer)
    loaded = load_model(tmp_path)
    assert loaded.writer is not None
    assert loaded.writer.encode(" a text") == writer.encode(" a text")
    assert loaded.writer.prompt() == list(model.config.decoder.prompt)


def test_a_model_without_them_is_refused(tmp_path, model):
    save_model(tmp_path, model, CharTokenizer(UNITS), "tiny")
    with pytest.raises(TokenizerError):
        load_model(tmp_path)


def test_tokens_of_another_decoder_are_refused(tmp_path, model, writer):
    other = replace(model.config, decoder=replace(model.config.decoder, end=5))
    save_model(tmp_path, U2Model(other), CharTokenizer(UNITS), "tiny", writer=writer)
    with pytest.raises(TokenizerError, match="decoder"):
        load_model(tmp_path)


def test_a_model_with_another_decoder_has_none(tmp_path):
    save_model(tmp_path, U2Model(TINY), CharTokenizer(UNITS), "tiny")
    assert load_model(tmp_path).writer is None
