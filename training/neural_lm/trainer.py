"""The training loop of a neural language model; goes on exactly where it stopped."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.neural_lm.lm_file import save_neural_lm
from earshot.models.neural_lm.network import NeuralLm, initialise
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.training.errors import CorpusError, Diverged
from earshot.training.neural_lm.perplexity import perplexity
from earshot.training.neural_lm.recipe import LmRecipe
from earshot.training.neural_lm.row_sampler import RowSampler
from earshot.training.neural_lm.token_text import TokenTexts, read_lines
from earshot.training.progress_bar import progress_bar
from earshot.training.recipe.data_root import require_data
from earshot.training.recipe.schedule import learning_rate
from earshot.training.run.descent import Descent, require_usable
from earshot.training.run.run_identity import (
    OPTIMISER_MAY_CHANGE,
    Identity,
    recipe_values,
    require_same,
)
from earshot.training.run.run_log import append_line, cut_log
from earshot.training.run.saved_file import read_saved, save_whole, taking_up
from earshot.training.run.stop_signal import StopSignal
from earshot.training.run.time_limit import TimeLimit
from earshot.training.run.training_state import STATE_FILE

LOG_FILE = "log.jsonl"
MAY_CHANGE = {
    "name", "work_dir", "texts", "held_out",  # of texts see `_identity`
    "optimiser.log_every", "optimiser.save_every",
    *OPTIMISER_MAY_CHANGE,
}  # fmt: skip


class LmTrainer:
    """Trains a network on `device`; everything it writes goes to the recipe's `work_dir`.

    perplexities: per word and end of sentence, of each held-out text when the run last stopped.
    It begins at update 0, or where the run in that folder stopped. Raises CorpusError for texts,
    TrainingStateError for a folder with the run of another recipe, or a broken one.
    """

    def __init__(self, recipe: LmRecipe, device: torch.device) -> None:
        config = recipe.optimiser
        self.recipe = recipe
        self.device = device
        self.step = 0
        require_data(recipe.data_files)
        self._texts = TokenTexts(recipe)
        _require_lines(recipe.held_out)
        shares = [text.share for text in recipe.texts]
        self._sampler = RowSampler(self._texts.arrays, shares, recipe.network.context, config.seed)
        torch.set_num_threads(min(config.threads, os.cpu_count() or 1))
        torch.manual_seed(config.seed)
        self.network = NeuralLm(recipe.network)
        initialise(self.network)
        self.network.to(device)
        self._optimiser = torch.optim.AdamW(
            self.network.parameters(),
            lr=config.peak_rate,
            betas=(0.9, 0.95),
            weight_decay=config.weight_decay,
            fused=True,
        )
        weights = self.network.parameters()
        self._descent = Descent(self._optimiser, weights, config.max_gradient_norm)
        self.folder = recipe.work_dir
        self.log_file = self.folder / LOG_FILE
        self._state_file = self.folder / STATE_FILE
        self.perplexities: dict[str, float] = {}
        self._measured_at: int | None = None
        self._losses: list[float | None] = []  # None where the update was skipped
        self._window_began = time.monotonic()
        self._resume()
        cut_log(self.log_file, self.step)

    @property
    def finished(self) -> bool:
        """Whether the schedule's last update is done."""
        return self.step >= self.recipe.optimiser.total_steps

    def run(self, limit: TimeLimit) -> None:
        """To the end of the schedule, the time limit, or SIGTERM or Ctrl-C.

        In every case it saves, and then measures, which takes longer: see `perplexities`. Raises
        Diverged.
        """
        total = self.recipe.optimiser.total_steps
        bar = progress_bar(total=total, initial=self.step, unit="update", mininterval=10.0)
        with StopSignal() as stop:
            while not (self.finished or stop.received or limit.passed):
                self._update(limit.rate_share)
                bar.update()
                if self.step % self.recipe.optimiser.save_every == 0:
                    self._checkpoint()
        bar.close()
        if self.step != self._measured_at:
            self._checkpoint()

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
        rate = learning_rate(self.step, config) * rate_share
        norm = self._descent.step(loss, rate)
        self.step += 1
        self._note(loss, norm, tokens.numel())

    def _note(self, loss: Tensor, norm: float, tokens: int) -> None:
        self._losses.append(float(loss.detach()) if math.isfinite(norm) else None)
        if len(self._losses) < self.recipe.optimiser.log_every:
            return
        seconds = time.monotonic() - self._window_began
        taken = [each for each in self._losses if each is not None]
        means = {"loss": round(sum(taken) / len(taken), 4)} if taken else {}
        append_line(
            self.log_file,
            step=self.step,
            **means,
            skipped=len(self._losses) - len(taken),
            rate=round(self._optimiser.param_groups[0]["lr"], 8),
            tokens_per_second=round(len(self._losses) * tokens / seconds),
        )
        self._restart_window()

    def _restart_window(self) -> None:
        self._losses = []
        self._window_began = time.monotonic()

    def _checkpoint(self) -> None:
        """Saves, then measures."""
        self._save()
        scorer = SentenceScorer(self.network, self._texts.tokenizer)
        self.perplexities = {path.name: perplexity(scorer, path) for path in self.recipe.held_out}
        for name, value in self.perplexities.items():
            if not math.isfinite(value):
                raise Diverged(f"{name} has no finite perplexity: try a lower peak_rate")
        self._measured_at = self.step
        found = {f"perplexity_{name}": round(it, 1) for name, it in self.perplexities.items()}
        append_line(self.log_file, step=self.step, **found)
        self._restart_window()

    def _save(self) -> None:
        """Everything that the next update depends on. Raises Diverged."""
        require_usable(self.network)
        state = {
            "step": self.step,
            "identity": self._identity(),
            "network": self.network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
        }
        save_whole(self._state_file, state)

    def _identity(self) -> Identity:
        texts = zip(self._texts.checksums, self.recipe.texts, strict=True)
        tokenizer = hashlib.sha256(self._texts.tokenizer.serialized_model_proto())
        return {
            **recipe_values(asdict(self.recipe), MAY_CHANGE),
            "texts": [[checksum, text.share] for checksum, text in texts],
            "tokenizer": tokenizer.hexdigest(),
        }

    def _resume(self) -> None:
        if not self._state_file.exists():
            return
        state = read_saved(self._state_file)
        with taking_up(self._state_file):
            require_same(self._state_file, state["identity"], self._identity())
            self.network.load_state_dict(state["network"])
            self._optimiser.load_state_dict(state["optimiser"])
            self.step = int(state["step"])


def _require_lines(paths: Sequence[Path]) -> None:
    """Now, and not when they are first measured, hours later."""
    for path in paths:
        if next(read_lines(path), None) is None:
            raise CorpusError(f"{path} is empty")
