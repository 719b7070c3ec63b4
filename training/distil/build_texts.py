"""The texts that a recipe's teacher writes."""

from __future__ import annotations

from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.data.speech import Speech
from earshot.training.distil.greedy_tokens import GreedyWriter
from earshot.training.distil.teacher import Teacher
from earshot.training.distil.written_texts import WrittenTexts
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.whisper_decoding import (
    take_whisper_decoder,
    token_tables,
    whisper_decoder_config,
)
from earshot.training.waveform.clips import Clips

MOST_TOKENS = 160  # of a text; who speaks 20 s says at most half as much


def build_texts(recipe: Recipe, speech: Speech, clips: Clips, teacher: Teacher) -> WrittenTexts:
    """Texts of the training speech, written when they are wanted, by the teacher's own decoder.

    Raises ModelError, RecipeError for a teacher without decoder or tokenizer.
    """
    config = recipe.distil
    assert config is not None
    assert recipe.teacher is not None
    sizes = whisper_decoder_config(recipe.teacher, recipe.network.language)
    decoder = WhisperDecoder(sizes)
    take_whisper_decoder(decoder, recipe.teacher)
    decoder.eval().requires_grad_(False).to(teacher.device)
    tokenizer = WhisperTokenizer(token_tables(recipe.teacher))
    # Neither notes on sounds nor special tokens but the end.
    special = set(range(min(sizes.end, *sizes.prompt), sizes.vocab_size)) - {sizes.end}
    barred = sorted(tokenizer.non_speech | special)
    writer = GreedyWriter(decoder, barred, MOST_TOKENS)
    made_by = f"{teacher.checksum()} {sizes.prompt} {config.most_text_errors}"
    return WrittenTexts(
        recipe.data.work_dir / "texts.jsonl",
        speech.utterances,
        clips,
        (teacher, writer, tokenizer),
        config.most_text_errors,
        made_by,
    )
