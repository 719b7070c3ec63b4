"""Texts as arrays of tokens, made once and kept beside the run."""

from __future__ import annotations

import lzma
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import sentencepiece

from earshot.training.errors import CorpusError
from earshot.training.files.made_of import file_checksum, keep_made
from earshot.training.files.output_folder import make_folder
from earshot.training.files.packed_text import open_text
from earshot.training.neural_lm.recipe import LmRecipe

TokenArray = npt.NDArray[np.uint16]
END = 1  # </s>, between sentences as well as before the first
LINES_FOR_TOKENIZER = 500_000
LINES_AT_ONCE = 100_000
TOKENIZER_FILE = "pieces.model"  # as runs under way have it


class TokenTexts:
    """A recipe's tokenizer, and its texts in tokens; taken from `work_dir` where they are there.

    checksums: of the texts, in their order.
    Raises CorpusError for a text that is missing, broken or too short for one row.
    """

    def __init__(self, recipe: LmRecipe) -> None:
        self._folder = make_folder(recipe.work_dir)
        paths = [text.path for text in recipe.texts]
        self.checksums = [file_checksum(path) for path in paths]
        self.tokenizer = self._model(paths, recipe.network.vocab_size, recipe.optimiser.seed)
        self.arrays = [
            self._encoded(path, checksum)
            for path, checksum in zip(paths, self.checksums, strict=True)
        ]
        for path, array in zip(paths, self.arrays, strict=True):
            if len(array) <= recipe.network.context + 1:
                raise CorpusError(f"{path} is too short: it has {len(array)} tokens")

    def _model(
        self, paths: Sequence[Path], size: int, seed: int
    ) -> sentencepiece.SentencePieceProcessor:
        path = self._folder / TOKENIZER_FILE
        made_of = [*self.checksums, str(size), str(seed)]
        keep_made(path, made_of, lambda: _train_tokenizer(path, paths, size, seed))
        return sentencepiece.SentencePieceProcessor(model_file=str(path))

    def _encoded(self, text: Path, checksum: str) -> TokenArray:
        path = self._folder / f"{text.name}.npy"
        made_of = [checksum, file_checksum(self._folder / TOKENIZER_FILE)]
        keep_made(path, made_of, lambda: np.save(path, _encode(self.tokenizer, text)))
        array: TokenArray = np.load(path)
        return array


def read_lines(path: Path) -> Iterator[str]:
    """Lines that are not empty. Raises CorpusError."""
    try:
        with open_text(path) as text:
            yield from (line for line in map(str.strip, text) if line)
    except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error


def _train_tokenizer(path: Path, texts: Sequence[Path], size: int, seed: int) -> None:
    """Tokens (Kudo 2018, unigram) of an equal number of lines of each text, where it has them."""
    rng = random.Random(seed)
    lines: list[str] = []
    for text in texts:
        own = list(read_lines(text))
        lines += rng.sample(own, min(len(own), LINES_FOR_TOKENIZER))
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_prefix=str(path.with_suffix("")),
            vocab_size=size,
            model_type="unigram",
            character_coverage=1.0,
            normalization_rule_name="identity",
            unk_id=0,
            eos_id=END,
            bos_id=-1,
            pad_id=-1,
            input_sentence_size=LINES_FOR_TOKENIZER,
            num_threads=1,  # with more, runs differ
            minloglevel=2,
        )
    except RuntimeError as error:
        raise CorpusError(f"no {size} tokens can be made of the texts: {error}") from error


def _encode(tokenizer: sentencepiece.SentencePieceProcessor, text: Path) -> TokenArray:
    parts = [np.array([END], np.uint16)]
    lines = read_lines(text)
    while some := list(islice(lines, LINES_AT_ONCE)):
        encoded = tokenizer.encode(some, add_eos=True)
        parts.append(np.fromiter((token for line in encoded for token in line), np.uint16))
    return np.concatenate(parts)
