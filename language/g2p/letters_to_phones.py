"""Grapheme-to-phoneme (G2P) for words that no lexicon has, by a small CTC network.

A bidirectional LSTM over letters with two frames of phones for each, trained on a lexicon (CTC for
this: Rao 2015, section 3.2). Of words that it has not seen it says 73 % as the CMU dictionary does;
the others miss a phone or two.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn

from earshot.language.g2p.plain_letters import plain_letters
from earshot.models.checkpoints.files.safetensors_file import read_safetensors_file
from earshot.models.checkpoints.tensor_check import check_tensors
from earshot.models.config import PHONE_BLANK
from earshot.models.errors import CheckpointError, UnencodableText
from earshot.models.layers.ctc import collapse
from earshot.models.layers.phone_head import PhoneHead

LETTERS_FILE = "letters.safetensors"
LETTERS = "abcdefghijklmnopqrstuvwxyz'"
SILENT = "-. "  # written within words, and said nowhere
MAX_LETTERS = 64
BATCH = 256
MOST_WAYS = 3
NEAR = 2.5
"""In nats behind the likeliest way to say a word: others that count."""
UNSURE = 4
"""Frames of a word in which a second phone is considered, two of them at once at most."""


@dataclass(frozen=True)
class LettersConfig:
    """Sizes of the network; what lies beside a model has these."""

    embedding: int = 64
    hidden: int = 160
    layers: int = 2
    rate: int = 2  # phone frames for each letter: x says two


class LettersNetwork(nn.Module):
    """Letters (B, T) to log-probabilities of phones (B, T * rate, phones + 1)."""

    def __init__(self, phones: int, config: LettersConfig) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS) + 1, config.embedding, padding_idx=0)
        self.lstm = nn.LSTM(
            config.embedding, config.hidden, config.layers, batch_first=True, bidirectional=True
        )
        self.head = PhoneHead(phones, config.rate, 2 * config.hidden)

    def forward(self, letters: Tensor, lengths: Tensor) -> Tensor:
        """`letters` (B, T) from 1, padded with 0; their numbers `lengths` (B,), on the CPU."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed(letters), lengths, batch_first=True, enforce_sorted=False
        )
        seen, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        log_probs: Tensor = self.head(seen)
        return log_probs


def read_as(word: str) -> str:
    """The letters of a word, and its apostrophes: without case, accents, hyphens and dots.

    Raises UnencodableText, naming what is no letter.
    """
    kept = [sign for sign in plain_letters(word) if sign not in SILENT]
    strange = sorted({sign for sign in kept if sign not in LETTERS})
    if strange:
        raise UnencodableText(word, f"nobody says how {', '.join(map(repr, strange))} is said")
    if not any(sign.isalpha() for sign in kept):
        raise UnencodableText(word, "there is nothing in it to be said")
    if len(kept) > MAX_LETTERS:
        raise UnencodableText(word, f"it has {len(kept)} letters, {MAX_LETTERS} at most")
    return "".join(kept)


def letters_of(word: str) -> list[int]:
    """What a word is read as, by number. Raises UnencodableText like `read_as`."""
    return [LETTERS.index(sign) + 1 for sign in read_as(word)]


class LettersToPhones:
    """Reads words out in the phones of a model. May be called from any thread."""

    def __init__(self, network: LettersNetwork) -> None:
        self._network = network.eval().requires_grad_(False)

    def pronounce(self, word: str) -> tuple[int, ...]:
        """The likeliest phones of a word, as units of the phone head.

        Raises UnencodableText for what is no word of letters, or says nothing.
        """
        phones = self.pronounce_all([letters_of(word)])[0]
        if not phones:
            raise UnencodableText(word, "it has no pronunciation")
        return phones

    def read_out(self, words: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The likeliest phones of each word that has some: many at once in a tenth of the time."""
        found: dict[str, tuple[int, ...]] = {}
        for some, letters in _runs(_readable(words)):
            said = self.pronounce_all(letters)
            found.update((word, phones) for word, phones in zip(some, said, strict=True) if phones)
        return found

    def ways(self, words: Iterable[str]) -> dict[str, tuple[tuple[int, ...], ...]]:
        """The likely ways to say each word that can be said, likeliest first, `MOST_WAYS` at most.

        They differ in the frames of which the network is least sure.
        """
        found: dict[str, tuple[tuple[int, ...], ...]] = {}
        for some, letters in _runs(_readable(words)):
            for word, log_probs in zip(some, self._log_probs(letters), strict=True):
                if said := _ways(log_probs):
                    found[word] = said
        return found

    def pronounce_all(self, words: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """The likeliest phones of words in letters by number."""
        return [
            tuple(collapse(log_probs.argmax(dim=-1).tolist(), PHONE_BLANK))
            for log_probs in self._log_probs(words)
        ]

    def _log_probs(self, words: Sequence[Sequence[int]]) -> list[Tensor]:
        """Log-probabilities (T, phones + 1) of each word's frames."""
        lengths = torch.tensor([len(word) for word in words])
        rows = [torch.tensor(word) for word in words]
        with torch.inference_mode():
            padded = nn.utils.rnn.pad_sequence(rows, batch_first=True)
            found = self._network(padded, lengths)
        frames = (lengths * self._network.head.rate).tolist()
        return [each[:count] for each, count in zip(found, frames, strict=True)]


def _readable(words: Iterable[str]) -> dict[str, list[int]]:
    """The letters of those words that have some, by number."""
    found = {}
    for word in words:
        with suppress(UnencodableText):
            found[word] = letters_of(word)
    return found


def _runs(words: Mapping[str, list[int]]) -> Iterator[tuple[list[str], list[list[int]]]]:
    """Batches of words and their letters, of like lengths."""
    ordered = sorted(words, key=lambda word: len(words[word]))
    for start in range(0, len(ordered), BATCH):
        some = ordered[start : start + BATCH]
        yield some, [words[word] for word in some]


def _ways(log_probs: Tensor) -> tuple[tuple[int, ...], ...]:
    """The likely phones by log-probabilities (T, phones + 1) of a word's frames."""
    values, phones = log_probs.topk(2, dim=-1)
    behind = (values[:, 0] - values[:, 1]).tolist()
    best, second = phones.T.tolist()
    unsure = sorted(range(len(behind)), key=behind.__getitem__)[:UNSURE]
    changes = [frames for count in range(3) for frames in itertools.combinations(unsure, count)]
    ways: list[tuple[int, ...]] = []
    for frames in sorted(changes, key=lambda frames: sum(behind[frame] for frame in frames)):
        if sum(behind[frame] for frame in frames) <= NEAR:
            path = [second[t] if t in frames else phone for t, phone in enumerate(best)]
            ways.append(tuple(collapse(path, PHONE_BLANK)))
    return tuple(way for way in dict.fromkeys(ways) if way)[:MOST_WAYS]


def save_letters_to_phones(path: Path, network: LettersNetwork) -> None:
    """In half precision."""
    tensors = {
        name: tensor.detach().cpu().half().contiguous()
        for name, tensor in network.state_dict().items()
    }
    safetensors.torch.save_file(tensors, path)


def load_letters_to_phones(path: Path, phones: int) -> LettersToPhones:
    """Load the network of a model with so many phones. Raises CheckpointError."""
    weights = read_safetensors_file(path)
    network = LettersNetwork(phones, LettersConfig())
    try:
        check_tensors(network.state_dict(), weights)
    except CheckpointError as error:
        raise CheckpointError(f"{path} does not fit {phones} phones: {error}") from error
    network.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    return LettersToPhones(network)
