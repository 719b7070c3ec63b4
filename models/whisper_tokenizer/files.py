"""Files of a byte-level BPE with Whisper's special tokens, as transformers writes them.

Only vocabulary, merges and special tokens are taken, after checking that nothing else there has a
say in how text falls into tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from earshot.models.errors import TokenizerError, quote
from earshot.models.plain_text import read_plain_text
from earshot.models.whisper_tokenizer.merges import Pair, with_lost_merges

MAX_FILE_BYTES = 32 * 1024 * 1024
# Settings of a tokenizer.json and the one value of each that is Whisper's.
BPE_SETTINGS: dict[str, tuple[Any, ...]] = {
    "type": ("BPE",),
    "dropout": (None,),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "byte_fallback": (None, False),
    "ignore_merges": (None, False),
}
SPLIT_SETTINGS: dict[str, tuple[Any, ...]] = {
    "type": ("ByteLevel",),
    "add_prefix_space": (False,),
    "use_regex": (None, True),
}


@dataclass(frozen=True)
class TokenTables:
    """What the files say. vocabulary: tokens, bytes written as GPT-2 does; special: by its text."""

    vocabulary: Mapping[str, int]
    merges: list[Pair]
    special: Mapping[str, int]


def read_tables(folder: Path) -> TokenTables:
    """Tables of `tokenizer.json`, else of `vocab.json`, `merges.txt` and the added tokens.

    Raises TokenizerError for files that are missing, huge, damaged or of another kind of tokenizer.
    """
    if (folder / "tokenizer.json").is_file():
        tables = _read_one_file(folder / "tokenizer.json")
    elif (folder / "vocab.json").is_file():
        tables = _read_parts(folder)
    else:
        raise TokenizerError(f"{folder} has neither tokenizer.json nor vocab.json and merges.txt")
    _check(folder, tables)
    return replace(tables, merges=with_lost_merges(tables.vocabulary, tables.merges))


def write_tables(folder: Path, tables: TokenTables) -> None:
    """Writes a `tokenizer.json` that `read_tables` reads, and the library `tokenizers` too."""
    added = [
        {"id": token, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for text, token in sorted(tables.special.items(), key=lambda item: item[1])
    ]  # fmt: skip
    bytes_of_text = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    content = {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": bytes_of_text,
        "decoder": bytes_of_text,
        "model": {
            "type": "BPE",
            "vocab": dict(tables.vocabulary),
            "merges": [" ".join(pair) for pair in tables.merges],
        },
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8")


def _read_one_file(path: Path) -> TokenTables:
    content = _read_json(path)
    model = _mapping(path, "model", content.get("model"))
    _check_settings(path, "model", model, BPE_SETTINGS)
    split = _mapping(path, "pre_tokenizer", content.get("pre_tokenizer"))
    _check_settings(path, "pre_tokenizer", split, SPLIT_SETTINGS)
    if content.get("normalizer") is not None:
        raise TokenizerError(f"{path} has a normalizer, and Whisper's tokens none")
    special = _read_added(path, content.get("added_tokens"))
    vocabulary = _read_ids(path, model.get("vocab"))
    return TokenTables(vocabulary, _read_merges(path, model.get("merges")), special)


def _read_parts(folder: Path) -> TokenTables:
    path = folder / "merges.txt"
    lines = [line for line in _read_text(path).split("\n") if line.strip()]
    merges = _read_merges(path, lines[1:] if lines and lines[0].startswith("#version") else lines)
    vocabulary = _read_ids(folder / "vocab.json", _read_json(folder / "vocab.json"))
    return TokenTables(vocabulary, merges, _read_special(folder))


def _read_special(folder: Path) -> dict[str, int]:
    """Special tokens where older and newer releases of transformers put them."""
    if (folder / "added_tokens.json").is_file():
        path = folder / "added_tokens.json"
        return _read_ids(path, _read_json(path))
    path = folder / "tokenizer_config.json"
    added = _mapping(path, "added_tokens_decoder", _read_json(path).get("added_tokens_decoder"))
    try:
        listed = [
            {"id": int(token), **entry}
            for token, entry in added.items()
            if token.isdecimal() and isinstance(entry, Mapping)
        ]
    except ValueError as error:
        raise TokenizerError(f"{path} numbers a token with too many digits") from error
    return _read_added(path, listed)


def _read_added(path: Path, added: object) -> dict[str, int]:
    if not isinstance(added, list) or not all(isinstance(entry, Mapping) for entry in added):
        raise TokenizerError(f"{path} lists no added tokens")
    pairs = [(entry.get("content"), entry.get("id")) for entry in added]
    if not all(isinstance(text, str) for text, _ in pairs):
        raise TokenizerError(f"{path} has an added token without a text")
    return _read_ids(path, dict(pairs))


def _read_ids(path: Path, ids: object) -> dict[str, int]:
    found = _mapping(path, "vocabulary", ids)
    for text, token in found.items():
        if type(token) is not int or token < 0:
            raise TokenizerError(f"{path} gives the token {quote(text)} the number {quote(token)}")
    try:
        "".join(found).encode()
    except UnicodeEncodeError as error:
        raise TokenizerError(f"{path} has a token that is no Unicode text: {error}") from error
    if len(set(found.values())) < len(found):
        raise TokenizerError(f"{path} gives two tokens one number")
    return dict(found)


def _read_merges(path: Path, merges: object) -> list[Pair]:
    """Pairs, each as a list of two or as two with a space between."""
    if not isinstance(merges, list):
        raise TokenizerError(f"{path} lists no merges")
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in merges]
    for pair in pairs:
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_pair or not all(isinstance(part, str) and part for part in pair):
            raise TokenizerError(f"{path} has {quote(pair)} where two tokens are merged")
    return [(first, second) for first, second in pairs]


def _check(folder: Path, tables: TokenTables) -> None:
    """Every number from 0 on has a token, and every merge makes one of known ones."""
    known = tables.vocabulary.keys()
    for first, second in tables.merges:
        if not {first, second, first + second} <= known:
            raise TokenizerError(
                f"{folder} merges {quote(first)} and {quote(second)}, not all of them tokens"
            )
    numbers = {*tables.vocabulary.values(), *tables.special.values()}
    if gaps := set(range(len(numbers))) - numbers:
        raise TokenizerError(f"{folder} has {len(numbers)} tokens but none with the id {min(gaps)}")
    both = tables.vocabulary.keys() & tables.special.keys()
    if wrong := [text for text in both if tables.vocabulary[text] != tables.special[text]]:
        raise TokenizerError(f"{folder} gives {quote(wrong[0])} two numbers")


def _check_settings(
    path: Path, name: str, section: Mapping[str, Any], wanted: Mapping[str, tuple[Any, ...]]
) -> None:
    for key, values in wanted.items():
        if section.get(key) not in values:
            found = quote(section.get(key))
            raise TokenizerError(f"{path} has {name}.{key} {found}, and {values[0]!r} in a Whisper")


def _mapping(path: Path, name: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TokenizerError(f"{path} has no {name}")
    return value


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise TokenizerError(f"{path} is not JSON: {error}") from error
    return _mapping(path, "tables", content)


def _read_text(path: Path) -> str:
    try:
        return read_plain_text(path, MAX_FILE_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerError(f"cannot read {path}: {error}") from error
