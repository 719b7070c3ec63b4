"""The training loop of a neural language model; goes on exactly where it stopped."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch.nn import functional

from earshot.models.neural_lm.lm_file import save_neural_lm
from earshot.models.neural_lm.network import NeuralLm, initialise
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.training.errors import CorpusError, Diverged
from earshot.training.neural_lm.perplexity import perplexity
from earshot.training.neural_lm.recipe import LmRecipe
from earshot.training.neural_lm.row_sampler import RowSampler
from earshot.training.neural_lm.token_text import TokenTexts, read_lines
from earshot.training.recipe.data_root import require_data
from earshot.training.run.run_identity import Identity, recipe_values
from earshot.training.run.run_log import append_line
from earshot.training.text_run.network_run import MAY_CHANGE, NetworkRun


class LmTrainer(NetworkRun):
    """Trains a network on `device`; everything it writes goes to the recipe's `work_dir`.

    perplexities: per word and end of sentence, of each held-out text when the run last stopped.
    It begins at update 0, or where the run in that folder stopped. Raises CorpusError for texts,
    TrainingStateError for a folder with the run of another recipe, or a broken one.
    """

    def __init__(self, recipe: LmRecipe, device: torch.device) -> None:
        self.recipe = recipe
        self.device = device
        require_data(recipe.data_files)
        self._texts = TokenTexts(recipe)
        _require_lines(recipe.held_out)
        shares = [text.share for text in recipe.texts]
        seed = recipe.optimiser.seed
        self._sampler = RowSampler(self._texts.arrays, shares, recipe.network.context, seed)
        self.perplexities: dict[str, float] = {}
        folder, identity = recipe.work_dir, _identity_of(recipe, self._texts)
        super().__init__(self._make, recipe.optimiser, folder, identity, 0.95, "tokens")

    def _make(self) -> NeuralLm:
        self.network = NeuralLm(self.recipe.network)
        initialise(self.network)
        return self.network.to(self.device)

    def export(self, path: Path) -> None:
        """The network with its tokenizer, in half precision."""
        save_neural_lm(path, self.network, self._texts.tokenizer.serialized_model_proto())

    def _update(self, rate_share: float) -> None:
        config = self.recipe.optimiser
        tokens, following = self._sampler.rows(self.step, config.batch)
        self.network.train()
        with torch.autocast(
            self.device.type, torch.bfloat16, enabled=config.precision == "bfloat16"
        ):
            logits = self.network(tokens.to(self.device))
        targets = following.to(self.device).flatten()
        loss = functional.cross_entropy(logits.float().flatten(0, 1), targets)
        self._descend(loss, rate_share, tokens.numel())

    def _checkpoint(self) -> None:
        """Save, then measure, which takes longer: see `perplexities`. Raises Diverged."""
        super()._checkpoint()
        scorer = SentenceScorer(self.network, self._texts.tokenizer)
        self.perplexities = {path.name: perplexity(scorer, path) for path in self.recipe.held_out}
        for name, value in self.perplexities.items():
            if not math.isfinite(value):
                raise Diverged(f"{name} has no finite perplexity: try a lower peak_rate")
        found = {f"perplexity_{name}": round(it, 1) for name, it in self.perplexities.items()}
        append_line(self.log_file, step=self.step, **found)
        self._restart_window()


def _identity_of(recipe: LmRecipe, texts: TokenTexts) -> Identity:
    shares = zip(texts.checksums, recipe.texts, strict=True)
    tokenizer = hashlib.sha256(texts.tokenizer.serialized_model_proto())
    return {
        **recipe_values(asdict(recipe), MAY_CHANGE),
        "texts": [[checksum, text.share] for checksum, text in shares],
        "tokenizer": tokenizer.hexdigest(),
    }


def _require_lines(paths: Sequence[Path]) -> None:
    """Now, and not when they are first measured, hours later."""
    for path in paths:
        if next(read_lines(path), None) is None:
            raise CorpusError(f"{path} is empty")
