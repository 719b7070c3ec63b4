"""A word that no dictionary has does not silence the utterance that it is in."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from earshot.language.g2p.letters_to_phones import (
    LettersConfig,
    LettersNetwork,
    LettersToPhones,
    save_letters_to_phones,
)
from earshot.training.corpus.utterance import Utterance
from earshot.training.phones.phones import PhoneLabels
from earshot.training.phones.spoken_words import spoken_words
from earshot.training.recipe.config import PhoneConfig


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """A network that was never trained: it says something of most words."""
    torch.manual_seed(5)
    path = tmp_path / "letters.safetensors"
    save_letters_to_phones(path, LettersNetwork(phones=7, config=LettersConfig()))
    return path


def said(text: str) -> Utterance:
    return Utterance(Path("said.flac"), "sentences", "somebody", 1.0, text)


def test_an_unknown_word_is_read_out_and_a_known_one_is_looked_up(
    lexicon: Path, letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def read_out(self: LettersToPhones, words: list[str]) -> dict[str, tuple[int, ...]]:
        asked.extend(words)
        return {"lomid": (1, 3)}

    monkeypatch.setattr(LettersToPhones, "read_out", read_out)
    utterances = [said("low lomid"), said("high")]
    words = spoken_words(PhoneConfig(lexicon, letters=letters), utterances)
    names = tuple(sorted({"L", "OW", "HH", "AY", "M", "IH", "D"}))
    assert asked == ["lomid"]
    assert words["lomid"] == (names[0], names[2])
    assert words["low"] == ("L", "OW")
    assert PhoneLabels.of(utterances, words).utterances[0] is not None


def test_without_a_network_an_unknown_word_has_no_sound(lexicon: Path) -> None:
    utterances = [said("low lomid"), said("high")]
    words = spoken_words(PhoneConfig(lexicon), utterances)
    assert PhoneLabels.of(utterances, words).utterances[0] is None
