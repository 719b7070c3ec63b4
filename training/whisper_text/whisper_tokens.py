"""The tokenizer beside a Whisper's weights, which has to be that Whisper's."""

from __future__ import annotations

import json
from pathlib import Path

from earshot.models.checkpoints.whisper.checkpoint import WhisperCheckpoint
from earshot.models.whisper_tokenizer.files import read_tables
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.errors import RecipeError

TIMESTAMPS = 1501
"""From 0 to 30 s, the last tokens of every published Whisper."""
PUBLISHED_ENDS = {51_864: 50_256, 51_865: 50_257, 51_866: 50_257}
"""The token after a text, by the vocabulary: English, multilingual, large-v3."""


def tokenizer_beside(path: Path, checkpoint: WhisperCheckpoint) -> WhisperTokenizer:
    """The tokenizer that lies beside the Whisper at `path`.

    Raises RecipeError where there is none, or another Whisper's; TokenizerError for a broken one.
    """
    if checkpoint.tokenizer is None:
        raise RecipeError(
            f"network.decoder: no tokenizer.json or vocab.json lies beside {path} "
            '(where to get it: docs/training.md, "Your own Whisper")'
        )
    tokenizer = WhisperTokenizer(read_tables(checkpoint.tokenizer))
    if (reason := _foreign(path, checkpoint.dims.vocabulary, tokenizer)) is not None:
        raise RecipeError(
            f"network.decoder: the tokenizer beside {path} is another Whisper's: {reason}"
        )
    return tokenizer


def _foreign(path: Path, vocabulary: int, tokenizer: WhisperTokenizer) -> str | None:
    """Why the tokenizer cannot be that of weights for so many tokens; None where it can."""
    tables, end = tokenizer.tables, tokenizer.end_of_text
    highest = max((*tables.vocabulary.values(), *tables.special.values()))
    if highest >= vocabulary:
        return f"it has a token {highest}, the weights have {vocabulary}"
    wanted = PUBLISHED_ENDS.get(vocabulary, _stated_end(path))
    if wanted not in (None, end):
        return f"its texts end with {end}, those of the weights with {wanted}"
    if vocabulary in PUBLISHED_ENDS:
        first = vocabulary - TIMESTAMPS
        for found in (tokenizer.no_timestamps + 1, tokenizer.first_timestamp):
            if found != first:
                return f"its timestamps begin at {found}, those of the weights at {first}"
    return None


def _stated_end(path: Path) -> int | None:
    """The token after a text that a folder of Hugging Face's names; None where nothing does."""
    try:
        content = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    end = content.get("eos_token_id") if isinstance(content, dict) else None
    return end if isinstance(end, int) else None
