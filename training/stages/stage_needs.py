"""Needs of a stage that no other stage meets: files, corpora, a Whisper with its tokens."""

from __future__ import annotations

from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer
from earshot.training.data.speech import training_utterances
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.data_root import require_data
from earshot.training.recipe.whisper_decoding import whole_decoding
from earshot.training.whisper_text.written_words import require_written


def require_stage(recipe: Recipe) -> None:
    """Raises for what the stage will lack hours later, when its turn comes.

    CorpusError for files that are missing or broken; RecipeError for corpora that no manifest has,
    a Whisper without decoder or tokenizer, or one whose decoder cannot write the transcripts;
    ModelError for a Whisper that is broken or lacks the language.
    """
    require_data(recipe.data_files)
    distil, language = recipe.distil, recipe.network.language
    untranscribed = () if distil is None else distil.untranscribed_manifests
    utterances = training_utterances(recipe.data, untranscribed, language)
    if distil is not None and distil.decoder_weight > 0:
        distil.require_corpora({each.corpus for each in utterances})
    if recipe.network.decoder == "whisper":
        assert recipe.teacher is not None
        decoding = whole_decoding(recipe.teacher, language)
        require_written(WhisperTokenizer(decoding.tables), [each.text for each in utterances])
