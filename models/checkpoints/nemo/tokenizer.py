"""The units of a NeMo archive: sentencepiece's, wordpieces, or a list of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from earshot.models.checkpoints.nemo.archive import CONFIG, NemoArchive
from earshot.models.checkpoints.nemo.config import has_subwords, read_labels
from earshot.models.checkpoints.nemo.section import Section
from earshot.models.errors import TokenizerError, quote
from earshot.models.tokenizers.aggregate import AggregateTokenizer
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.sentencepiece import SentencePieceTokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.tokenizers.word_spans import WORD_START
from earshot.models.tokenizers.wordpiece import WordpieceTokenizer

MAX_TOKENIZER_BYTES = 32 * 1024 * 1024
MAX_LANGUAGES = 256


def read_tokenizer(options: Mapping[str, Any], archive: NemoArchive) -> Tokenizer:
    """The tokenizer of a model whose configuration is `options`.

    Raises TokenizerError for one that we do not have, or a broken one, CheckpointError where its
    files are not there.
    """
    if not has_subwords(options):
        return _characters(read_labels(options), archive.source)
    section = Section(CONFIG, options).inside("tokenizer")
    if section.values.get("custom_tokenizer"):
        raise TokenizerError(f"{CONFIG}: tokenizer.custom_tokenizer is there, and not supported")
    if _kind(section) == "agg":
        return _aggregate(section.inside("langs"), archive)
    return _of_one_language(section, archive)


def _kind(section: Section) -> str:
    kind = section.values.get("type")
    known = ("bpe", "wpe", "agg")
    if not isinstance(kind, str) or kind.lower() not in known:
        told = "is missing; it should be" if kind is None else f"is {quote(kind)}, none of"
        raise TokenizerError(f"{CONFIG}: {section.name}.type {told} {', '.join(known)}")
    return kind.lower()


def _of_one_language(section: Section, archive: NemoArchive) -> Tokenizer:
    kind = _kind(section)
    if kind == "bpe":
        model = archive.artifact(section.values.get("model_path"), "tokenizer.model")
        proto = archive.read(model, MAX_TOKENIZER_BYTES)
        return SentencePieceTokenizer(proto, f"{archive.source}: {model.name}")
    if kind == "wpe":
        table = archive.artifact(section.values.get("vocab_path"), "vocab.txt")
        lines = archive.text(table, MAX_TOKENIZER_BYTES).split("\n")
        pieces = [line.rstrip("\r") for line in lines]
        while pieces and not pieces[-1]:
            pieces.pop()
        return WordpieceTokenizer(pieces, f"{archive.source}: {table.name}")
    raise TokenizerError(
        f"{CONFIG}: {section.name}.type is {kind!r}, which is not read within another tokenizer"
    )


def _aggregate(languages: Section, archive: NemoArchive) -> Tokenizer:
    """Tokenizers by language, whose order in the configuration is that of their units."""
    parts: list[Tokenizer] = []
    if len(languages.values) > MAX_LANGUAGES:
        raise TokenizerError(f"{CONFIG}: {languages.name} has more than {MAX_LANGUAGES} languages")
    for language in languages.values:
        section = languages.inside(language)
        if _kind(section) != "bpe":
            raise TokenizerError(
                f"{CONFIG}: {section.name}.type is not bpe, of which alone several are read"
            )
        parts.append(_of_one_language(section, archive))
    return AggregateTokenizer(parts)


def _characters(labels: list[Any], source: str) -> Tokenizer:
    """Labels by id, of which ' ' is the space."""
    wrong = [label for label in labels if not isinstance(label, str)]
    if wrong:
        raise TokenizerError(f"{source} has the label {quote(wrong[0])}, which is no text")
    symbols = [WORD_START if label == " " else label for label in labels]
    return CharTokenizer(UnitTable.of(symbols, f"{source}: labels"))
