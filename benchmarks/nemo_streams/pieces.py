"""Pieces for the units of a model without a tokenizer, as those of NeMo's are made."""

from __future__ import annotations

import io
from collections.abc import Iterable

import sentencepiece

from earshot.models.tokenizers.sentencepiece import SentencePieceTokenizer


def pieces_of(texts: Iterable[str], size: int) -> SentencePieceTokenizer:
    """So many units of texts."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model, vocab_size=size, model_type="bpe",
        unk_id=0, bos_id=-1, eos_id=-1, pad_id=-1, num_threads=1, minloglevel=2,
    )  # fmt: skip
    return SentencePieceTokenizer(model.getvalue(), "the benchmark's pieces")
