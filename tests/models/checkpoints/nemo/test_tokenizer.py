"""Tokenizers that lie in NeMo's archives."""

import io
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from nemo_writer import LABELS, options, write_tar

from earshot.models.checkpoints.nemo.archive import open_nemo
from earshot.models.checkpoints.nemo.tokenizer import read_tokenizer
from earshot.models.errors import ConfigError, NotACheckpoint, TokenizerError
from earshot.models.tokenizers.tokenizer import Tokenizer

SENTENCES = ["the quick brown fox", "jumps over the lazy dog", "and over the other fox"]
BPE = {
    "tokenizer__type": "bpe",
    "tokenizer__dir": "/training",
    "tokenizer__model_path": "nemo:0a_tokenizer.model",
}
WPE = {"tokenizer__type": "WPE", "tokenizer__vocab_path": "nemo:0b_vocab.txt"}
TABLE = b"[UNK]\nfox\n##es\nthe\n,\n"


@pytest.fixture(scope="session")
def proto() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20), model_writer=model, vocab_size=40,
        model_type="bpe", minloglevel=2,
    )  # fmt: skip
    return model.getvalue()


def read(folder: Path, kind: str, members: dict[str, bytes], **changes: Any) -> Tokenizer:
    write_tar(folder / "x.nemo", members)
    with open_nemo(folder / "x.nemo") as archive:
        return read_tokenizer(options(kind, **changes), archive)


def test_a_model_of_subwords_has_sentencepieces_units(tmp_path, proto):
    members = {"./0a_tokenizer.model": proto, "./0b_tokenizer.model": b""}
    tokenizer = read(tmp_path, "EncDecRNNTBPEModel", members, **BPE)
    assert tokenizer.vocab_size == 40
    assert tokenizer.decode(tokenizer.encode("the lazy fox")) == "the lazy fox"


def test_a_model_of_wordpieces_has_a_table(tmp_path):
    tokenizer = read(tmp_path, "EncDecCTCModelBPE", {"./0b_vocab.txt": TABLE}, **WPE)
    assert tokenizer.encode("the foxes") == [3, 1, 2]


@pytest.mark.parametrize("kind", ["EncDecCTCModel", "EncDecRNNTModel"])
def test_a_model_of_characters_has_labels_of_which_one_is_the_space(tmp_path, kind):
    tokenizer = read(tmp_path, kind, {})
    assert tokenizer.vocab_size == len(LABELS)
    assert tokenizer.encode("ab  c") == [1, 2, 0, 3]
    assert tokenizer.decode([0, 1, 4, 2, 0, 0, 3]) == "a'b c"
    assert tokenizer.separator == 0


def test_languages_have_their_units_one_after_another(tmp_path, proto):
    languages = {name: {"type": "bpe", "model_path": "nemo:m"} for name in ("en", "es")}
    changes = {"tokenizer__type": "agg", "tokenizer__langs": languages}
    tokenizer = read(tmp_path, "EncDecRNNTBPEModel", {"./m": proto}, **changes)
    units = tokenizer.encode("the fox")
    assert tokenizer.vocab_size == 80
    assert tokenizer.decode([*units, *(40 + unit for unit in units)]) == "the fox the fox"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"tokenizer__type": "yttm"}, r"tokenizer\.type"),
        ({"tokenizer__type": None}, r"tokenizer\.type"),
        ({**BPE, "tokenizer__custom_tokenizer": {"_target_": "x"}}, "custom_tokenizer"),
        ({"tokenizer__type": "agg", "tokenizer__langs": {"en": {"type": "wpe"}}}, r"langs\.en"),
        ({"tokenizer__type": "agg", "tokenizer__langs": {}}, "has none"),
    ],
)
def test_a_tokenizer_that_we_do_not_have_is_refused_by_name(tmp_path, changes, named):
    with pytest.raises(TokenizerError, match=named):
        read(tmp_path, "EncDecRNNTBPEModel", {}, **changes)


def test_a_tokenizer_whose_files_are_not_there_is_refused(tmp_path):
    with pytest.raises(NotACheckpoint, match=r"lacks '0a_tokenizer\.model'"):
        read(tmp_path, "EncDecRNNTBPEModel", {}, **BPE)


@pytest.mark.parametrize("content", [b"", b"garbage" * 20])
def test_a_spoilt_sentencepiece_model_is_refused(tmp_path, content):
    with pytest.raises(TokenizerError, match=r"0a_tokenizer\.model (is a damaged .*|is empty)$"):
        read(tmp_path, "EncDecRNNTBPEModel", {"./0a_tokenizer.model": content}, **BPE)


@pytest.mark.parametrize("table", [b"", b"a\nb\na\n", b"a\n\nb\n"])
def test_a_spoilt_table_is_refused(tmp_path, table):
    with pytest.raises(TokenizerError, match=r"0b_vocab\.txt"):
        read(tmp_path, "EncDecCTCModelBPE", {"./0b_vocab.txt": table}, **WPE)


@pytest.mark.parametrize("labels", [["a", "a"], ["a", 1], [" ", "▁"], ["a", ""], ["a", None]])
def test_spoilt_labels_are_refused(tmp_path, labels):
    with pytest.raises(TokenizerError):
        read(tmp_path, "EncDecCTCModel", {}, decoder__vocabulary=labels)


def test_labels_that_are_no_list_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="vocabulary is not a list"):
        read(tmp_path, "EncDecCTCModel", {}, decoder__vocabulary="abc")
