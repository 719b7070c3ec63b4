"""The training loop of a tagger; goes on exactly where it stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from earshot.language.marks.marked_words import MarkedWord
from earshot.language.marks.pauses import END, UNKNOWN
from earshot.language.marks.tagger_file import save_tagger
from earshot.language.marks.tagger_network import MARKS, TaggerNetwork
from earshot.language.marks.word_numbers import WordNumbers
from earshot.language.marks.word_tagger import Tag, WordTagger
from earshot.training.errors import CorpusError
from earshot.training.files.made_of import file_checksum
from earshot.training.files.output_folder import make_folder
from earshot.training.files.packed_text import open_text
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
from earshot.training.tagger.marked_text import MarkedTexts, marked_lines
from earshot.training.tagger.recipe import TaggerRecipe
from earshot.training.tagger.said_text import SaidRows, SaidText
from earshot.training.tagger.scores import Scores

LOG_FILE = "log.jsonl"
MAY_CHANGE = {
    "name", "work_dir", "texts", "held_out",  # of texts see `_identity`
    "optimiser.log_every", "optimiser.save_every",
    *OPTIMISER_MAY_CHANGE,
}  # fmt: skip
HELD_OUT_LINES = 2000


class TaggerTrainer:
    """Trains a tagger on the CPU; everything it writes goes to the recipe's `work_dir`.

    It begins at update 0, or where the run in that folder stopped. Raises CorpusError for texts,
    TrainingStateError for a folder with the run of another recipe, or a broken one.
    """

    def __init__(self, recipe: TaggerRecipe) -> None:
        config = recipe.optimiser
        self.recipe = recipe
        self.step = 0
        require_data(recipe.data_files)
        self.folder = make_folder(recipe.work_dir)
        self.log_file = self.folder / LOG_FILE
        self._state_file = self.folder / STATE_FILE
        paths = [text.path for text in recipe.texts]
        self._checksums = [file_checksum(path) for path in paths]
        shares = [text.share for text in recipe.texts]
        texts = MarkedTexts(paths)
        self._numbers = WordNumbers(texts.vocabulary(shares, recipe.network.words), recipe.network)
        self._forms = texts.forms()
        self._table = torch.tensor([self._numbers.of(word) for word in texts.words])
        self._said = SaidText(texts.texts, shares, recipe.speech, config.seed)
        torch.set_num_threads(min(config.threads, os.cpu_count() or 1))
        torch.manual_seed(config.seed)
        self.network = TaggerNetwork(recipe.network)
        self._optimiser = torch.optim.AdamW(
            self.network.parameters(),
            lr=config.peak_rate,
            betas=(0.9, 0.98),
            weight_decay=config.weight_decay,
            fused=True,
        )
        weights = self.network.parameters()
        self._descent = Descent(self._optimiser, weights, config.max_gradient_norm)
        self._losses: list[float] = []
        self._window_began = time.monotonic()
        self._resume()
        cut_log(self.log_file, self.step)

    @property
    def finished(self) -> bool:
        """Whether the schedule's last update is done."""
        return self.step >= self.recipe.optimiser.total_steps

    def run(self, limit: TimeLimit) -> None:
        """To the end of the schedule, the time limit, or SIGTERM or Ctrl-C. Raises Diverged."""
        total = self.recipe.optimiser.total_steps
        bar = progress_bar(total=total, initial=self.step, unit="update", mininterval=10.0)
        with StopSignal() as stop:
            while not (self.finished or stop.received or limit.passed):
                self._update(limit.rate_share)
                bar.update()
                if self.step % self.recipe.optimiser.save_every == 0:
                    self._save()
        bar.close()
        self._save()

    def tagger(self) -> WordTagger:
        """The tagger as it is now."""
        return WordTagger(self.network, self._numbers, self._forms)

    def export(self, path: Path) -> None:
        """Write the tagger, weights of eight bits."""
        save_tagger(path, self.tagger())

    def _update(self, rate_share: float) -> None:
        config = self.recipe.optimiser
        rows = self._said.rows(self.step, config.batch, config.row)
        self.network.train().requires_grad_(True)
        torch.manual_seed((config.seed << 32) + self.step)
        loss = self._loss(rows)
        self._descent.step(loss, learning_rate(self.step, config) * rate_share)
        self.step += 1
        self._losses.append(float(loss.detach()))
        if len(self._losses) == config.log_every:
            self._note(config.batch * config.row)

    def _loss(self, rows: SaidRows) -> Tensor:
        """Cross-entropy of marks and of capitals, their sum, where somebody is asked for them."""
        numbers = self._table[torch.from_numpy(rows.word)]
        pause, text, segment = map(torch.from_numpy, (rows.pause, rows.text, rows.segment))
        logits = self.network(numbers, pause, text, segment)
        marks, capitals = logits[..., : len(MARKS)], logits[..., len(MARKS) :]
        return sum(
            (
                functional.cross_entropy(
                    found.flatten(0, 1), torch.from_numpy(true).flatten(), ignore_index=-1
                )
                for found, true in ((marks, rows.mark), (capitals, rows.capital))
            ),
            start=torch.zeros(()),
        )

    def _note(self, words: int) -> None:
        seconds = time.monotonic() - self._window_began
        append_line(
            self.log_file,
            step=self.step,
            loss=round(sum(self._losses) / len(self._losses), 4),
            rate=round(self._optimiser.param_groups[0]["lr"], 8),
            words_per_second=round(len(self._losses) * words / seconds),
        )
        self._losses, self._window_began = [], time.monotonic()

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
        texts = zip(self._checksums, self.recipe.texts, strict=True)
        return {
            **recipe_values(asdict(self.recipe), MAY_CHANGE),
            "texts": [[checksum, text.share] for checksum, text in texts],
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


def held_out_scores(tagger: WordTagger, path: Path) -> dict[str, float]:
    """F1 by kind on a text's first lines, each an utterance of itself, pauses unknown."""
    scores = Scores()
    for words in held_out_lines(path):
        scores.note(words, tags_of(tagger, words), tagger.forms)
    return scores.f1


def tags_of(tagger: WordTagger, words: Sequence[MarkedWord]) -> Sequence[Tag]:
    """What a tagger says of an utterance without its pauses."""
    return tagger.tag([*((word.text, UNKNOWN) for word in words[:-1]), (words[-1].text, END)]).tags


def held_out_lines(path: Path) -> Iterator[list[MarkedWord]]:
    """The first lines of a text that are whole sentences. Raises CorpusError."""
    try:
        with open_text(path) as lines:
            yield from islice(marked_lines(lines), HELD_OUT_LINES)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
