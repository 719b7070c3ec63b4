"""A lexicon teaches a network to read words out."""

from __future__ import annotations

import random

from earshot.language.g2p.letters_to_phones import LettersConfig, LettersToPhones
from earshot.training.texts.letters import LettersTraining, entries_of, train_letters

PHONES = ("AA", "B", "K", "S")
SOUNDS = {"a": ("AA",), "b": ("B",), "k": ("K",), "s": ("S",), "x": ("K", "S")}


def lexicon() -> dict[str, tuple[str, ...]]:
    """Words of an orthography in which every letter has one sound, or two."""
    rng = random.Random(1)
    words = {"".join(rng.choices("abksx", k=rng.randint(1, 6))) for _ in range(600)}
    return {word: tuple(s for letter in word for s in SOUNDS[letter]) for word in sorted(words)}


def test_it_reads_out_words_that_it_has_not_seen() -> None:
    small = LettersConfig(embedding=16, hidden=24, layers=1)
    training = LettersTraining(epochs=30, batch=16, peak_rate=1e-2)
    network, errors = train_letters(entries_of(lexicon(), PHONES), len(PHONES), small, training)
    assert errors < 0.1
    # AA B K S are numbered from 1
    assert LettersToPhones(network).pronounce("xabax") == (3, 4, 1, 2, 1, 3, 4)


def test_what_is_not_written_in_letters_is_left_out() -> None:
    assert [phones for _, phones in entries_of({"a": ("AA",), "3d": ("B",)}, PHONES)] == [(1,)]
