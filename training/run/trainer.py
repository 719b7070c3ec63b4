"""The training loop: batches in, checkpoints and a log out; goes on exactly where it stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.u2.silent_window import silent_window
from earshot.training.data.sampler import FIRST_SHUFFLED_EPOCH, Example
from earshot.training.distil.decoder_loss import DecoderLoss
from earshot.training.distil.distil_loss import DistilLoss
from earshot.training.distil.distil_yardstick import DistilYardstick
from earshot.training.files.output_folder import make_folder
from earshot.training.network.grown_model import head_weights
from earshot.training.network.trained_model import TrainedModel, as_u2
from earshot.training.phones.phone_yardstick import PhoneYardstick
from earshot.training.phones.phones import PhoneLabels, PhoneLoss
from earshot.training.phones.spoken_words import spoken_words
from earshot.training.progress_bar import progress_bar
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.optimiser_config import OptimiserConfig
from earshot.training.recipe.rate_groups import RateGroup, rate_groups, set_learning
from earshot.training.recipe.schedule import learning_rate
from earshot.training.run.averaging import ScoredCheckpoint, keep
from earshot.training.run.descent import Descent, require_usable
from earshot.training.run.objective import Objective
from earshot.training.run.prepare import Prepared
from earshot.training.run.run_identity import run_identity
from earshot.training.run.run_log import RunLog, UpdateRecord, cut_log
from earshot.training.run.small_state import load_small, rewarmed, save_small
from earshot.training.run.stop_signal import StopSignal
from earshot.training.run.time_limit import TimeLimit
from earshot.training.run.training_state import Progress, load_state, save_state
from earshot.training.student.build import build_student_loss
from earshot.training.student.student_loss import StudentLoss
from earshot.training.transducer.head_loss import HeadLoss

LOG_FILE = "log.jsonl"


def build_optimiser(groups: Sequence[RateGroup], config: OptimiserConfig) -> torch.optim.AdamW:
    """AdamW over groups of parameters, whose rates are set at every step."""
    return torch.optim.AdamW(
        [{"params": group.parameters} for group in groups],
        lr=config.peak_rate,
        betas=(0.9, 0.98),
        weight_decay=config.weight_decay,
        fused=True,
    )


def trained_weights(model: nn.Module, recipe: Recipe) -> list[tuple[str, nn.Parameter]]:
    """All weights of a model, or those of the head that alone is learnt, by their names."""
    grown = recipe.transducer is not None
    return list(head_weights(model) if grown else model.named_parameters())


class Trainer:
    """Trains `model`, on the device it is on; everything it writes goes to `folder`."""

    def __init__(
        self, recipe: Recipe, prepared: Prepared, model: TrainedModel, folder: Path
    ) -> None:
        self.recipe = recipe
        self.prepared = prepared
        self.model = model
        self.device = next(model.parameters()).device
        self.folder = folder
        self.progress = Progress(epoch=0 if recipe.start is None else FIRST_SHUFFLED_EPOCH)
        config = recipe.optimiser
        self._identity = run_identity(recipe, prepared.sampler.utterances, prepared.tokenizer)
        torch.manual_seed(config.seed)
        self.yardstick: PhoneYardstick | DistilYardstick | None = None
        self.objective = Objective(
            recipe,
            model,
            self._build_phone_loss(),
            self._build_distil(),
            self._build_decoder_loss(),
            self._build_head_loss(),
            self._build_student_loss(),
        )
        side = [] if self.side_head is None else list(self.side_head.named_parameters())
        trained = [*trained_weights(model, recipe), *side]
        self._groups = rate_groups(trained, config)
        self.optimiser = build_optimiser(self._groups, config)
        parameters = [parameter for _, parameter in trained]
        self._descent = Descent(self.optimiser, parameters, config.max_gradient_norm)
        self.log_file = make_folder(folder) / LOG_FILE
        self._log = RunLog(self.log_file, recipe.checkpoints.log_every)
        self._plan: list[list[Example]] = []
        self._planned_epoch = -1
        self._limit = TimeLimit()
        self._saved_at = time.monotonic()

    def _build_phone_loss(self) -> PhoneLoss | None:
        phones = self.recipe.phones
        if phones is None or (self.recipe.distil is not None and self.recipe.distil.alone):
            return None
        train, dev = self.prepared.sampler.utterances, self.prepared.dev
        lexicon = spoken_words(phones, [*train, *dev.utterances])
        labels = PhoneLabels.of(train, lexicon)
        trigrams = torch.from_numpy(labels.trigrams())
        if phones.block is None:
            heard = PhoneLabels.of(dev.utterances, lexicon)
            self.yardstick = PhoneYardstick(dev, heard, trigrams)
        return PhoneLoss(as_u2(self.model), labels, phones, trigrams).to(self.device)

    def _build_distil(self) -> DistilLoss | None:
        config, targets = self.recipe.distil, self.prepared.targets
        if config is None or targets is None:
            return None
        if config.alone:
            folder = self.recipe.data.work_dir / "teacher-dev"
            self.yardstick = DistilYardstick(self.prepared.dev, targets.teacher, folder)
        return DistilLoss(as_u2(self.model), targets)

    def _build_decoder_loss(self) -> DecoderLoss | None:
        texts, targets = self.prepared.texts, self.prepared.targets
        if texts is None or targets is None:
            return None
        # The window is of the weights that the stage begins with, for all of it: another pass over
        # 30 s of silence at each update would cost as much as the update.
        shift = targets.teacher.extractor.frame_shift
        model = as_u2(self.model)
        frame_samples = shift * model.encoder.subsampling_rate
        return DecoderLoss(model, texts, frame_samples, silent_window(model.eval()))

    def _build_head_loss(self) -> HeadLoss | None:
        config = self.recipe.transducer
        return None if config is None else HeadLoss(as_u2(self.model), config)

    def _build_student_loss(self) -> StudentLoss | None:
        if not isinstance(self.model, FastConformerModel):
            return None
        return build_student_loss(self.recipe, self.model, self.prepared.tokenizer)

    @property
    def side_head(self) -> nn.Module | None:
        """Parameters that are trained beside the model, if there are any."""
        return self.objective.side_head

    @property
    def _travels(self) -> bool:
        """Whether the model's weights in half precision are all that a run needs to go on."""
        return self.side_head is None and self.recipe.transducer is None

    def resume(self) -> bool:
        """Takes up the state saved in the folder; False if there is none. The log is cut to it.

        Where the whole state is missing, weights and place alone will do. Raises
        TrainingStateError if another recipe saved it, or it is broken.
        """
        progress = load_state(
            self.folder, self._identity, self.model, self.optimiser, self.side_head
        )
        if progress is None and self._travels:
            progress = load_small(self.folder, self._identity, self.model)
            if progress is not None:
                torch.manual_seed(self.recipe.optimiser.seed + progress.step)
        if progress is not None:
            self.progress = progress
        cut_log(self.log_file, self.progress.step)
        return progress is not None

    @property
    def finished(self) -> bool:
        """Whether the schedule's last update is done."""
        return self.progress.step >= self.recipe.optimiser.total_steps

    def run(self, stop_at_step: int | None = None, limit: TimeLimit | None = None) -> None:
        """Trains to the end of the schedule, or until `stop_at_step` updates are done.

        It stops sooner at the limit, and at SIGTERM or Ctrl-C after the update in progress; the
        state is saved in every case. A model is measured at the end of its schedule, and where its
        rate fell towards the limit. Raises Diverged, and leaves what was saved as it is.
        """
        total, began = self.recipe.optimiser.total_steps, self.progress.step
        last = min(total, stop_at_step or total)
        self._limit = limit or TimeLimit()
        bar = progress_bar(total=total, initial=self.progress.step, unit="update", mininterval=10.0)
        with StopSignal() as stop:
            while self.progress.step < last and not (stop.received or self._limit.passed):
                self._update(self._next_examples())
                bar.update()
                if self._is_at_checkpoint:
                    self._checkpoint()
                elif self._save_is_due:
                    self._save()
        bar.close()
        cooled = self._limit.rate_share == 0.0 and self.progress.step > 0
        ended = self.finished and self.progress.step > began
        if cooled or (ended and not self._is_at_checkpoint):
            self._checkpoint()
        self._save()

    @property
    def _is_at_checkpoint(self) -> bool:
        return self.progress.step % self.recipe.checkpoints.save_every == 0

    @property
    def _save_is_due(self) -> bool:
        return time.monotonic() - self._saved_at > 60 * self.recipe.checkpoints.save_minutes

    def _next_examples(self) -> list[Example]:
        """The examples of the next update; counts them as taken."""
        progress = self.progress
        if self._planned_epoch != progress.epoch:
            self._plan = self.prepared.sampler.batches(progress.epoch)
            self._planned_epoch = progress.epoch
        examples = self._plan[progress.batch]
        progress.batch += 1
        if progress.batch == len(self._plan):
            progress.epoch, progress.batch = progress.epoch + 1, 0
        return examples

    def _update(self, examples: list[Example]) -> None:
        config, progress = self.recipe.optimiser, self.progress
        rng = np.random.default_rng((config.seed, progress.step, 2))
        batch = self.prepared.builder.build(rng, examples, progress.step).to(self.device)
        rate = learning_rate(progress.step, config) * self._limit.rate_share
        rate *= rewarmed(progress)
        set_learning(self._groups, progress.step)
        with self._precision():
            losses = self.objective.of(batch, examples, progress.step, rng)
        shares = [group.share_at(progress.step, config.warmup_steps) for group in self._groups]
        norm = self._descent.step(losses.total, rate, shares)
        progress.step += 1
        progress.heard_seconds += batch.seconds
        record = UpdateRecord(losses.parts, norm, batch.seconds)
        self._log.update(record, progress.place(), rate)

    def _precision(self) -> torch.autocast:
        wanted = self.recipe.optimiser.precision == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=wanted)

    def _checkpoint(self) -> None:
        """Measures the model, keeps it if it is among the best, and saves the run."""
        require_usable(self.model)
        progress = self.progress
        error, found = self._measure()
        path = self.folder / f"step-{progress.step:06d}.pt"
        torch.save(self.model.state_dict(), path)
        scored = [*progress.kept, ScoredCheckpoint(error, progress.step, path)]
        checkpoints = self.recipe.checkpoints
        progress.kept = keep(scored, checkpoints.average, checkpoints.keep)
        self._log.write(progress.place(), **found)
        self._save()
        self._log.restart_clock()

    def _measure(self) -> tuple[float, dict[str, float]]:
        """The error by which checkpoints are kept, and what the log says of it."""
        if self.yardstick is not None:
            chunk_size = self.prepared.dev_chunk_size
            found = self.yardstick.measure(as_u2(self.model), chunk_size)
            return found[self.yardstick.judge], {name: round(found[name], 4) for name in found}
        errors = self.prepared.dev_errors(self.model)
        mean = sum(errors.values()) / len(errors)
        by_corpus = {f"dev_{corpus}": round(error, 4) for corpus, error in errors.items()}
        return mean, {"dev_wer": round(mean, 4), **by_corpus}

    def _save(self) -> None:
        require_usable(self.model)
        if self._travels:
            save_small(self.folder, self._identity, self.model, self.progress)
        save_state(
            self.folder,
            self._identity,
            self.model,
            self.optimiser,
            self.progress,
            self.side_head,
        )
        self._saved_at = time.monotonic()
