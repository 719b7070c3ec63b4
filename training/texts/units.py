"""Output units: a small sentencepiece unigram model over the training transcripts."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import sentencepiece

from earshot.training.errors import RecipeError
from earshot.training.files.output_folder import make_folder
from earshot.training.recipe.config import UnitsConfig

UNITS_FILE = "units.txt"
BLANK, UNKNOWN, SOS_EOS = "<blank>", "<unk>", "<sos/eos>"


def train_units(texts: Iterable[str], config: UnitsConfig, folder: Path) -> None:
    """Writes `bpe.model` and `units.txt` (blank 0, unknown 1, sos/eos 2) into `folder`.

    Deterministic: one thread, every sentence read, in order. Raises RecipeError if the texts do
    not give that many tokens.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=config.tokens,
            character_coverage=1.0,
            normalization_rule_name="identity",
            bos_id=-1,
            eos_id=-1,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise RecipeError(f"units.tokens = {config.tokens}: {error}") from error
    make_folder(folder)
    (folder / "bpe.model").write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    tokens = [
        processor.id_to_piece(i)
        for i in range(processor.get_piece_size())
        if not processor.is_unknown(i)
    ]
    lines = (
        f"{token} {number}\n" for number, token in enumerate((BLANK, UNKNOWN, SOS_EOS, *tokens))
    )
    (folder / UNITS_FILE).write_text("".join(lines), encoding="utf-8")
