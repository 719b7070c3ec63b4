"""The tokenizer that lies in a model's directory."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from earshot.models.errors import TokenizerError
from earshot.models.tokenizers.bpe import BpeTokenizer
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable

TokenizerKind = Literal["char", "bpe"]


def load_tokenizer(
    directory: Path, units_name: str = "units.txt", kind: TokenizerKind | None = None
) -> Tokenizer:
    """The tokenizer of a model directory; without a `kind`, BPE if it holds a sentencepiece model.

    Raises TokenizerError.
    """
    units = UnitTable.read(directory / units_name)
    models = sorted(directory.glob("*.model"))
    if kind == "char" or (kind is None and not models):
        return CharTokenizer(units)
    if len(models) != 1:
        names = ", ".join(path.name for path in models) or "none"
        raise TokenizerError(f"{directory} should hold one sentencepiece model; it holds {names}")
    return BpeTokenizer(models[0], units)
