"""The training loop of a tagger; goes on exactly where it stopped."""

from __future__ import annotations

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
from earshot.training.recipe.data_root import require_data
from earshot.training.run.run_identity import Identity, recipe_values
from earshot.training.tagger.marked_text import MarkedTexts, marked_lines
from earshot.training.tagger.recipe import TaggerRecipe
from earshot.training.tagger.said_text import SaidRows, SaidText
from earshot.training.tagger.scores import Scores
from earshot.training.text_run.network_run import MAY_CHANGE, NetworkRun

HELD_OUT_LINES = 2000


class TaggerTrainer(NetworkRun):
    """Trains a tagger on the CPU; everything it writes goes to the recipe's `work_dir`.

    It begins at update 0, or where the run in that folder stopped. Raises CorpusError for texts,
    TrainingStateError for a folder with the run of another recipe, or a broken one.
    """

    def __init__(self, recipe: TaggerRecipe) -> None:
        self.recipe = recipe
        require_data(recipe.data_files)
        folder = make_folder(recipe.work_dir)
        paths = [text.path for text in recipe.texts]
        shares = [text.share for text in recipe.texts]
        identity = _identity_of(recipe)
        texts = MarkedTexts(paths)
        self._numbers = WordNumbers(texts.vocabulary(shares, recipe.network.words), recipe.network)
        self._forms = texts.forms()
        self._table = torch.tensor([self._numbers.of(word) for word in texts.words])
        self._said = SaidText(texts.texts, shares, recipe.speech, recipe.optimiser.seed)
        super().__init__(self._make, recipe.optimiser, folder, identity, 0.98, "words")

    def _make(self) -> TaggerNetwork:
        self.network = TaggerNetwork(self.recipe.network)
        return self.network

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
        self._descend(self._loss(rows), rate_share, config.batch * config.row)

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


def _identity_of(recipe: TaggerRecipe) -> Identity:
    texts = [[file_checksum(text.path), text.share] for text in recipe.texts]
    return {**recipe_values(asdict(recipe), MAY_CHANGE), "texts": texts}


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
