"""Several ways to say a word that no lexicon has: where the network is in doubt."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from earshot.language.g2p import letters_to_phones
from earshot.language.g2p.letters_to_phones import LettersConfig, LettersNetwork, LettersToPhones
from earshot.language.g2p.lexicon import Lexicon
from earshot.language.g2p.pronouncer import Pronouncer
from earshot.models.config import PHONE_BLANK

PHONES = ("A", "B", "C")
A, B, C = 1, 2, 3


class Certain(LettersNetwork):
    """Says the same phones of every word: `frames` has the likely ones, and how likely."""

    def __init__(self, frames: Sequence[dict[int, float]]) -> None:
        super().__init__(len(PHONES), LettersConfig())
        self.frames = frames

    def forward(self, letters: Tensor, lengths: Tensor) -> Tensor:
        """The same log-probabilities for each word."""
        said = torch.full((len(letters), 2 * letters.shape[1], len(PHONES) + 1), -20.0)
        said[..., PHONE_BLANK] = -10.0
        for frame, likely in enumerate(self.frames):
            for phone, probability in likely.items():
                said[:, frame, phone] = math.log(probability)
        return said


def ways(*frames: dict[int, float]) -> tuple[tuple[int, ...], ...]:
    return LettersToPhones(Certain(frames)).ways(["abc"])["abc"]


def test_the_likeliest_way_comes_first_and_then_the_next_in_doubt() -> None:
    assert ways({A: 0.9, B: 0.1}, {B: 0.6, C: 0.4}) == ((A, B), (A, C), (B,))


def test_a_network_without_doubt_knows_one_way() -> None:
    assert ways({A: 0.99, B: 0.01}, {C: 1.0}) == ((A, C),)


def test_ways_that_come_to_the_same_phones_count_once() -> None:
    assert ways({A: 0.6, PHONE_BLANK: 0.4}, {A: 0.6, PHONE_BLANK: 0.4}) == ((A,),)


def test_no_more_ways_than_are_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    doubt = [{A: 0.4, B: 0.3}, {B: 0.4, C: 0.3}, {C: 0.4, A: 0.3}]
    assert len(ways(*doubt)) == letters_to_phones.MOST_WAYS
    monkeypatch.setattr(letters_to_phones, "MOST_WAYS", 1)
    assert ways(*doubt) == ((A, B, C),)


def test_the_first_way_is_what_is_said_without_others() -> None:
    torch.manual_seed(1)
    letters = LettersToPhones(LettersNetwork(len(PHONES), LettersConfig()))
    words = ["abba", "baba", "Baab", "x" * 40, "3m"]
    said = letters.ways(words)
    assert {word: each[0] for word, each in said.items()} == letters.read_out(words)


def test_words_of_the_lexicon_are_said_in_all_its_ways() -> None:
    pronouncer = Pronouncer(Lexicon("abba A B A\nabba A B\n", PHONES), None)
    assert pronouncer.ways(["abba", "baba"]) == {"abba": ((A, B, A), (A, B))}
