"""The texts that a recipe's teacher writes."""

from __future__ import annotations

from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.data.speech import Speech
from earshot.training.distil.teacher import Teacher
from earshot.training.distil.written_texts import WrittenTexts
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.recipe_model import recipe_decoding
from earshot.training.recipe.whisper_decoding import take_whisper_decoder, whole_decoding


def build_texts(recipe: Recipe, speech: Speech, teacher: Teacher) -> WrittenTexts:
    """Texts of the training speech, written when they are wanted, by the teacher's own decoder.

    It has all of its tokens, whichever the recipe's has. Raises ModelError, RecipeError for a
    teacher without decoder or tokenizer, or corpora that no manifest has.
    """
    config, decoding = recipe.distil, recipe_decoding(recipe)
    assert config is not None
    assert decoding is not None
    assert recipe.teacher is not None
    config.require_corpora({each.corpus for each in speech.utterances})
    whole = whole_decoding(recipe.teacher, recipe.network.language)
    decoder = WhisperDecoder(whole.config)
    take_whisper_decoder(decoder, recipe.teacher, whole)
    decoder.eval().requires_grad_(False).to(teacher.device)
    scorer = WhisperScorer.of(decoder, WhisperTokenizer(whole.tables))
    made_by = f"{teacher.checksum()} {whole.config.prompt} {config.most_text_errors}"
    return WrittenTexts(
        recipe.data.work_dir / "texts.jsonl",
        speech.utterances,
        scorer,
        WhisperTokenizer(decoding.tables),
        config.most_text_errors,
        made_by,
        decoding.config.positions - len(decoding.config.prompt),
        config.sentence_corpora,
    )
