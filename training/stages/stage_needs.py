"""What a stage finds and no other stage makes."""

from __future__ import annotations

from earshot.training.data.speech import require_corpora
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.data_root import require_data
from earshot.training.recipe.whisper_decoding import whole_decoding


def require_stage(recipe: Recipe) -> None:
    """Raises for what the stage will lack hours later, when its turn comes.

    CorpusError for files that are missing or broken; RecipeError for corpora that no manifest has,
    or a Whisper without decoder or tokenizer; ModelError for a Whisper that is broken or lacks the
    language.
    """
    require_data(recipe.data_files)
    distil, net = recipe.distil, recipe.network
    known = require_corpora(recipe.data, () if distil is None else distil.untranscribed_manifests)
    if distil is not None and distil.decoder_weight > 0:
        distil.require_corpora(known)
    if net.decoder == "whisper":
        assert recipe.teacher is not None
        whole_decoding(recipe.teacher, net.language)
