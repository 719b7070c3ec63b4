"""The units of a student: its teacher's pieces, by sentencepiece's own ids, as NeMo has them."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from earshot.models.tokenizers.bpe import BpeTokenizer
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.sentencepiece import SentencePieceTokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.training.errors import RecipeError


def student_units(start: Path) -> SentencePieceTokenizer:
    """The pieces of the model at `start`.

    Raises TokenizerError for broken units, RecipeError for other ones than sentencepiece's.
    """
    tokenizer = load_tokenizer(start)
    if not isinstance(tokenizer, BpeTokenizer):
        raise RecipeError(f"start.model: the units of {start} are not sentencepiece's")
    return SentencePieceTokenizer(tokenizer.proto, f"{start}: bpe.model")


def teacher_units(student: Tokenizer, teacher: Tokenizer) -> Tensor:
    """The teacher's unit (V,) for each of the student's. Raises RecipeError for one it lacks."""
    lacking = [symbol for symbol in student.units.symbols if symbol not in teacher.units.ids]
    if lacking:
        raise RecipeError(f"start.model: its table of units lacks {', '.join(lacking[:8])}")
    return torch.tensor([teacher.units.ids[symbol] for symbol in student.units.symbols])
