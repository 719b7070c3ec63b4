"""The training loop: batches in, checkpoints and a log out; goes on exactly where it stopped."""

from __future__ import annotations

import json
import math
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from models.training.averaging import ScoredCheckpoint, keep_best
from models.training.batch import Batch
from models.training.config import OptimiserConfig, Recipe
from models.training.errors import TrainingStateError
from models.training.prepare import Prepared
from models.training.sampler import Example
from models.training.schedule import learning_rate
from models.u2 import TrainingLoss, U2Model

STATE_FILE = "state.pt"
LOG_FILE = "log.jsonl"


@dataclass
class Progress:
    """Where a run stands: updates done, epoch, next batch of it, audio heard, checkpoints kept."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    heard_seconds: float = 0.0
    kept: list[ScoredCheckpoint] = field(default_factory=list)


def draw_chunk(rng: np.random.Generator, longest: int, config: OptimiserConfig) -> tuple[int, int]:
    """Chunk size and number of left chunks for one batch, -1 for all (Zhang 2020, section 3.2)."""
    if rng.random() < config.full_context_probability:
        return -1, -1
    chunk = int(rng.integers(1, config.max_chunk_frames + 1))
    left = -1 if rng.random() < 0.5 else int(rng.integers(0, max(1, longest // chunk) + 1))
    return chunk, left


class StopSignal:
    """Notes SIGTERM and SIGINT instead of dying of them, as a context manager."""

    SIGNALS = (signal.SIGTERM, signal.SIGINT)

    def __init__(self) -> None:
        self.received = False
        self._before: list[Any] = []

    def __enter__(self) -> StopSignal:
        self._before = [signal.signal(number, self._note) for number in self.SIGNALS]
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in zip(self.SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received = True


class Trainer:
    """Trains `model` on `prepared` data; everything it writes goes to `folder`."""

    def __init__(self, recipe: Recipe, prepared: Prepared, model: U2Model, folder: Path) -> None:
        self.recipe = recipe
        self.prepared = prepared
        self.model = model
        self.folder = folder
        self.progress = Progress()
        config = recipe.optimiser
        self.optimiser = torch.optim.AdamW(
            model.parameters(),
            lr=config.peak_rate,
            betas=(0.9, 0.98),
            weight_decay=config.weight_decay,
            fused=True,
        )
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(config.seed)
        self._plan: list[list[Example]] = []
        self._planned_epoch = -1
        self._window: list[tuple[float, float, float, float]] = []
        self._window_start = time.monotonic()

    def run(self, stop_at_step: int | None = None) -> None:
        """Trains to the end of the schedule, or until `stop_at_step` updates are done.

        SIGTERM and Ctrl-C stop it after the update in progress; the state is saved in every case.
        """
        total = self.recipe.optimiser.total_steps
        last = min(total, stop_at_step or total)
        bar = tqdm(total=total, initial=self.progress.step, unit="update", mininterval=10.0)
        with StopSignal() as stop:
            while self.progress.step < last and not stop.received:
                self._next_update()
                bar.update()
                if self.progress.step % self.recipe.checkpoints.save_every == 0:
                    self._checkpoint()
        bar.close()
        self.save()

    def _next_update(self) -> None:
        if self._planned_epoch != self.progress.epoch:
            self._plan = self.prepared.sampler.batches(self.progress.epoch)
            self._planned_epoch = self.progress.epoch
        self._update(self._plan[self.progress.batch])
        self.progress.batch += 1
        if self.progress.batch == len(self._plan):
            self.progress.epoch += 1
            self.progress.batch = 0

    def _update(self, examples: list[Example]) -> None:
        config, progress = self.recipe.optimiser, self.progress
        rng = np.random.default_rng((config.seed, progress.step, 2))
        batch = self.prepared.builder.build(rng, examples, progress.step)
        rate = learning_rate(progress.step, config)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        loss, norm = self._descend(batch, rng)
        progress.step += 1
        progress.heard_seconds += batch.seconds
        self._log(batch, loss, norm, rate)

    def _descend(self, batch: Batch, rng: np.random.Generator) -> tuple[TrainingLoss, float]:
        config = self.recipe.optimiser
        longest = batch.features.shape[1] // self.model.encoder.subsampling_rate
        chunk_size, num_left_chunks = draw_chunk(rng, longest, config)
        early = self.progress.step < config.ctc_only_steps
        weights = replace(self.model.config.loss, ctc_weight=1.0 if early else config.ctc_weight)
        self.model.config = replace(self.model.config, loss=weights)
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.model.loss(
            batch.features,
            batch.feature_lengths,
            batch.tokens,
            batch.token_lengths,
            chunk_size,
            num_left_chunks,
        )
        torch.autograd.backward(loss.total)
        norm = float(
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), config.max_gradient_norm)
        )
        if math.isfinite(norm):
            self.optimiser.step()
        return loss, norm

    def _log(self, batch: Batch, loss: TrainingLoss, norm: float, rate: float) -> None:
        tokens = float(batch.token_lengths.float().mean())
        self._window.append(
            (float(loss.total.detach()), float(loss.ctc.detach()) / tokens, norm, batch.seconds)
        )
        if self.progress.step % self.recipe.checkpoints.log_every:
            return
        now = time.monotonic()
        total, ctc, gradient, _ = np.mean(self._window, axis=0)
        heard = sum(row[3] for row in self._window)
        self._write_log(
            loss=round(total, 4),
            ctc_per_token=round(ctc, 4),
            gradient_norm=round(gradient, 3),
            rate=round(rate, 8),
            audio_per_second=round(heard / (now - self._window_start), 1),
        )
        self._window, self._window_start = [], now

    def _write_log(self, **values: object) -> None:
        progress = self.progress
        row = {
            "time": round(time.time()),
            "step": progress.step,
            "epoch": progress.epoch,
            "heard_h": round(progress.heard_seconds / 3600, 3),
        }
        with (self.folder / LOG_FILE).open("a", encoding="utf-8") as log:
            log.write(json.dumps({**row, **values}) + "\n")

    def _checkpoint(self) -> None:
        """Measures the model, keeps it if it is among the best, and saves the state of the run."""
        started = time.monotonic()
        errors = self.prepared.dev_errors(self.model)
        mean = sum(errors.values()) / len(errors)
        path = self.folder / f"step-{self.progress.step:06d}.pt"
        torch.save(self.model.state_dict(), path)
        scored = [*self.progress.kept, ScoredCheckpoint(mean, self.progress.step, path)]
        self.progress.kept = keep_best(scored, self.recipe.checkpoints.average)
        self._write_log(
            dev_wer=round(mean, 4),
            **{f"dev_{name}": round(error, 4) for name, error in errors.items()},
        )
        self.save()
        self._window_start += time.monotonic() - started

    def save(self) -> None:
        """Writes the whole state of the run, atomically."""
        progress = self.progress
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "progress": {
                "step": progress.step,
                "epoch": progress.epoch,
                "batch": progress.batch,
                "heard_seconds": progress.heard_seconds,
                "kept": [(kept.error, kept.step, kept.path.name) for kept in progress.kept],
            },
        }
        partial = self.folder / (STATE_FILE + ".partial")
        torch.save(state, partial)
        partial.replace(self.folder / STATE_FILE)

    def resume(self) -> bool:
        """Takes up the state saved in the folder; False if there is none.

        Raises TrainingStateError if another recipe saved it.
        """
        path = self.folder / STATE_FILE
        if not path.is_file():
            return False
        state = torch.load(path, map_location="cpu", weights_only=True)
        try:
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
        except (RuntimeError, ValueError, KeyError) as error:
            raise TrainingStateError(f"{path} was saved by another recipe: {error}") from error
        torch.set_rng_state(state["random"])
        saved = state["progress"]
        kept = [
            ScoredCheckpoint(error, step, self.folder / name)
            for error, step, name in saved.pop("kept")
        ]
        self.progress = Progress(kept=kept, **saved)
        return True
