"""The run of one network over texts: goes on exactly where it stopped."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from earshot.training.progress_bar import progress_bar
from earshot.training.recipe.schedule import Schedule, learning_rate
from earshot.training.run.descent import Descent, require_usable
from earshot.training.run.run_identity import OPTIMISER_MAY_CHANGE, Identity, require_same
from earshot.training.run.run_log import append_line, cut_log
from earshot.training.run.saved_file import read_saved, save_whole, taking_up
from earshot.training.run.stop_signal import StopSignal
from earshot.training.run.time_limit import TimeLimit
from earshot.training.run.training_state import STATE_FILE

LOG_FILE = "log.jsonl"
MAY_CHANGE = {
    "name", "work_dir", "texts", "held_out",  # texts are known by their checksums
    "optimiser.log_every", "optimiser.save_every",
    *OPTIMISER_MAY_CHANGE,
}  # fmt: skip


class NetworkSchedule(Schedule, Protocol):
    """Rates of a run, and what else a recipe's optimiser tells it."""

    @property
    def weight_decay(self) -> float:
        """AdamW's."""

    @property
    def max_gradient_norm(self) -> float:
        """Gradients are clipped to it."""

    @property
    def threads(self) -> int:
        """On one CPU, at most."""

    @property
    def seed(self) -> int:
        """Decides everything that is drawn."""

    @property
    def log_every(self) -> int:
        """Updates between two lines of the log."""

    @property
    def save_every(self) -> int:
        """Updates between two states that are saved."""


class NetworkRun:
    """A network's weights, its optimiser and its place in the schedule, kept in `folder`.

    A trainer derives from it and says what an update is. make: the network, with random numbers by
    the schedule's seed. counted: what its speed is told in, such as "tokens". It begins at update
    0, or where the run in that folder stopped. Raises TrainingStateError for a folder with the run
    of another identity, or a broken one.
    """

    def __init__(
        self,
        make: Callable[[], nn.Module],
        config: NetworkSchedule,
        folder: Path,
        identity: Identity,
        beta2: float,
        counted: str,
    ) -> None:
        torch.set_num_threads(min(config.threads, os.cpu_count() or 1))
        torch.manual_seed(config.seed)
        network = make()
        self.step = 0
        self.folder = folder
        self.log_file = folder / LOG_FILE
        self._network = network
        self._config = config
        self._identity = identity
        self._counted = counted
        self._optimiser = torch.optim.AdamW(
            network.parameters(),
            lr=config.peak_rate,
            betas=(0.9, beta2),
            weight_decay=config.weight_decay,
            fused=True,
        )
        self._descent = Descent(self._optimiser, network.parameters(), config.max_gradient_norm)
        self._checkpoint_at: int | None = None
        self._restart_window()
        self._resume()
        cut_log(self.log_file, self.step)

    @property
    def finished(self) -> bool:
        """Whether the schedule's last update is done."""
        return self.step >= self._config.total_steps

    def run(self, limit: TimeLimit) -> None:
        """To the end of the schedule, the time limit, or SIGTERM or Ctrl-C.

        The state is saved in every case. Raises Diverged.
        """
        total = self._config.total_steps
        bar = progress_bar(total=total, initial=self.step, unit="update", mininterval=10.0)
        with StopSignal() as stop:
            while not (self.finished or stop.received or limit.passed):
                self._update(limit.rate_share)
                bar.update()
                if self.step % self._config.save_every == 0:
                    self._checkpoint()
        bar.close()
        if self.step != self._checkpoint_at:
            self._checkpoint()

    def _update(self, rate_share: float) -> None:
        """Do one update, at a share of the schedule's rate, by `_descend`."""
        raise NotImplementedError

    def _checkpoint(self) -> None:
        """Save everything that the next update depends on. Raises Diverged."""
        require_usable(self._network)
        state: dict[str, Any] = {
            "step": self.step,
            "identity": self._identity,
            "network": self._network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
        }
        save_whole(self.folder / STATE_FILE, state)
        self._checkpoint_at = self.step

    def _descend(self, loss: Tensor, rate_share: float, count: int) -> None:
        """Follow a loss over so many of what is counted. Raises Diverged."""
        norm = self._descent.step(loss, learning_rate(self.step, self._config) * rate_share)
        self.step += 1
        self._losses.append(float(loss.detach()) if math.isfinite(norm) else None)
        if len(self._losses) == self._config.log_every:
            self._log(count)

    def _log(self, count: int) -> None:
        seconds = time.monotonic() - self._window_began
        taken = [each for each in self._losses if each is not None]
        means = {"loss": round(sum(taken) / len(taken), 4)} if taken else {}
        append_line(
            self.log_file,
            step=self.step,
            **means,
            skipped=len(self._losses) - len(taken),
            rate=round(self._optimiser.param_groups[0]["lr"], 8),
            **{f"{self._counted}_per_second": round(len(self._losses) * count / seconds)},
        )
        self._restart_window()

    def _restart_window(self) -> None:
        self._losses: list[float | None] = []  # None where the update was skipped
        self._window_began = time.monotonic()

    def _resume(self) -> None:
        path = self.folder / STATE_FILE
        if not path.exists():
            return
        state = read_saved(path)
        with taking_up(path):
            require_same(path, state["identity"], self._identity)
            self._network.load_state_dict(state["network"])
            self._optimiser.load_state_dict(state["optimiser"])
            self.step = int(state["step"])
