"""Tokenizer's files: what is refused, and what is mended."""

import json
import shutil
from pathlib import Path

import pytest

from earshot.models.errors import TokenizerError
from earshot.models.whisper_tokenizer import files
from earshot.models.whisper_tokenizer.files import read_tables
from earshot.models.whisper_tokenizer.merges import with_lost_merges
from earshot.models.whisper_tokenizer.tokenizer import read_whisper_tokenizer

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "whisper" / "hugging_face"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(shutil.copyfile(GOLDEN / "tokenizer.json", tmp_path / "tokenizer.json"))


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    for name in ("vocab.json", "merges.txt"):
        shutil.copyfile(GOLDEN / name, tmp_path / name)
    special = read_tables(GOLDEN).special
    (tmp_path / "added_tokens.json").write_text(json.dumps(special))
    return tmp_path


def change(file: Path, section: str, **changed: object) -> Path:
    content = json.loads(file.read_text())
    content[section] = content[section] | changed if section in ("model", "pre_tokenizer") else None
    file.write_text(json.dumps(content if content[section] else content | changed))
    return file.parent


@pytest.mark.parametrize("lost", [0, 5, -1])
def test_a_lost_merge_is_found_again(file, lost):
    content = json.loads(file.read_text())
    del content["model"]["merges"][lost]
    file.write_text(json.dumps(content))
    assert read_tables(file.parent) == read_tables(GOLDEN)


def test_all_merges_are_found_again_by_the_numbers_of_their_tokens(parts):
    (parts / "merges.txt").write_text("#version: 0.2\n")
    assert read_tables(parts) == read_tables(GOLDEN)


def test_merges_in_another_order_are_left_alone():
    vocabulary = {"a": 0, "b": 1, "c": 2, "ab": 4, "bc": 3, "abc": 5}
    merges = [("a", "b"), ("b", "c")]
    assert with_lost_merges(vocabulary, merges) == merges


def test_a_token_that_no_two_others_make_has_no_merge():
    assert with_lost_merges({"a": 0, "b": 1, "abab": 2, "": 3}, []) == []


def test_a_long_token_takes_no_time():
    assert with_lost_merges({"a": 0, "a" * 1_000_000: 1}, []) == []


@pytest.mark.parametrize("text", ["", "[]", "{", "3", "[" * 100_000, "{}", '{"model": 3}'])
def test_a_spoilt_file_is_refused(file, text):
    file.write_text(text)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json"):
        read_tables(file.parent)


def test_text_that_is_none_is_refused(file):
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(TokenizerError, match="cannot read"):
        read_tables(file.parent)


def test_a_huge_file_is_not_read(file, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1000)
    with pytest.raises(TokenizerError, match="too large"):
        read_tables(file.parent)


@pytest.mark.parametrize(
    ("section", "changed", "message"),
    [
        ("model", {"type": "WordPiece"}, "model.type 'WordPiece'"),
        ("model", {"dropout": 0.1}, r"model.dropout 0\.1"),
        ("model", {"vocab": {"a": 0}}, "not all of them tokens"),
        ("model", {"vocab": {"a": 0, "b": 0}}, "two tokens one number"),
        ("model", {"vocab": {"a": "0"}}, "gives the token 'a' the number '0'"),
        ("model", {"vocab": {"a": -1}}, "the number -1"),
        ("model", {"vocab": {"a": True}}, "the number True"),
        ("model", {"vocab": {"a\ud800": 0}}, "no Unicode"),
        ("model", {"vocab": []}, "no vocabulary"),
        ("model", {"merges": "a b"}, "lists no merges"),
        ("model", {"merges": ["a b c"]}, "where two tokens are merged"),
        ("model", {"merges": ["a "]}, "where two tokens are merged"),
        ("model", {"merges": [3]}, "where two tokens are merged"),
        ("model", {"merges": [["a", 3]]}, "where two tokens are merged"),
        ("model", {"merges": ["a more"]}, "'a' and 'more', not all"),
        ("pre_tokenizer", {"add_prefix_space": True}, "add_prefix_space True"),
        ("pre_tokenizer", {"use_regex": False}, "use_regex False"),
        ("normalizer", {"normalizer": {"type": "NFC"}}, "has a normalizer"),
        ("added_tokens", {"added_tokens": {}}, "lists no added tokens"),
        ("added_tokens", {"added_tokens": [3]}, "lists no added tokens"),
        ("added_tokens", {"added_tokens": [{"id": 3}]}, "without a text"),
        ("added_tokens", {"added_tokens": [{"content": "x"}]}, "the number None"),
        ("added_tokens", {"added_tokens": [{"content": "\udfff", "id": 300}]}, "no Unicode"),
        ("added_tokens", {"added_tokens": [{"content": "x", "id": 310}]}, "none with the id 300"),
        ("added_tokens", {"added_tokens": [{"content": "!", "id": 300}]}, "'!' two numbers"),
    ],
)
def test_what_is_wrong_is_named(file, section, changed, message):
    with pytest.raises(TokenizerError, match=message):
        read_tables(change(file, section, **changed))


def test_another_models_tokens_are_refused_by_what_they_lack(file):
    folder = change(file, "added_tokens", added_tokens=[{"content": "<s>", "id": 300}])
    with pytest.raises(TokenizerError, match=r"no token <\|endoftext\|>"):
        read_whisper_tokenizer(folder)


def test_a_vocabulary_without_all_bytes_is_refused(parts):
    vocabulary = json.loads((parts / "vocab.json").read_text())
    del vocabulary["!"]
    vocabulary["!!!"] = 0
    (parts / "vocab.json").write_text(json.dumps(vocabulary))
    with pytest.raises(TokenizerError, match="lacks 1 of the 256 bytes"):
        read_whisper_tokenizer(parts)


def test_a_token_that_is_not_written_in_bytes_is_named(parts):
    vocabulary = json.loads((parts / "vocab.json").read_text())
    (parts / "vocab.json").write_text(json.dumps(vocabulary | {"日": 310}))
    with pytest.raises(TokenizerError, match="'日' is not written as bytes are"):
        read_whisper_tokenizer(parts)


def test_missing_files_are_named(parts):
    (parts / "merges.txt").unlink()
    with pytest.raises(TokenizerError, match=r"merges\.txt"):
        read_tables(parts)
    (parts / "vocab.json").unlink()
    with pytest.raises(TokenizerError, match=r"neither tokenizer\.json nor vocab\.json"):
        read_tables(parts)


def test_parts_without_special_tokens_are_refused(parts):
    (parts / "added_tokens.json").unlink()
    with pytest.raises(TokenizerError, match=r"tokenizer_config\.json"):
        read_tables(parts)
    (parts / "tokenizer_config.json").write_text('{"added_tokens_decoder": {"x": {}, "3": 3}}')
    with pytest.raises(TokenizerError, match=r"no token <\|endoftext\|>"):
        read_whisper_tokenizer(parts)


def test_a_number_of_thousands_of_digits_is_refused(parts):
    (parts / "added_tokens.json").unlink()
    added = {"added_tokens_decoder": {"1" * 5_000: {"content": "x"}}}
    (parts / "tokenizer_config.json").write_text(json.dumps(added))
    with pytest.raises(TokenizerError, match=r"tokenizer_config\.json numbers"):
        read_tables(parts)
