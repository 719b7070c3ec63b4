"""Words and how they sound, of files in the format of the CMU dictionary."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.language.g2p.lexicon import Lexicon
from earshot.training.errors import CorpusError
from earshot.training.files.cmudict import (
    lexicon_text,
    phone_names,
    read_lexicon,
    read_pronunciations,
)


def test_words_sound_as_their_first_entry_says_without_stress(lexicon: Path) -> None:
    assert read_lexicon(lexicon) == {
        "low": ("L", "OW"),
        "high": ("HH", "AY"),
        "mid": ("M", "IH", "D"),
    }


def test_a_lexicon_that_is_missing_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot read"):
        read_lexicon(tmp_path / "none")
    (tmp_path / "empty").write_text(";;; nothing\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="no pronunciation"):
        read_lexicon(tmp_path / "empty")


def test_other_entries_follow_the_first_unless_only_the_stress_differs(lexicon: Path) -> None:
    assert read_pronunciations(lexicon)["high"] == (("HH", "AY"), ("HH", "EH"))


def test_a_model_reads_what_is_written_for_it(lexicon: Path) -> None:
    pronunciations = read_pronunciations(lexicon)
    phones = ("EH", *phone_names(read_lexicon(lexicon)))
    number = {phone: place for place, phone in enumerate(phones, start=1)}
    lexicon_of_model = Lexicon(lexicon_text(pronunciations), phones)
    for word, said in pronunciations.items():
        assert lexicon_of_model.pronounce(word) == tuple(
            tuple(number[phone] for phone in each) for each in said
        )


def test_words_are_spelled_as_transcripts_spell_them(tmp_path: Path) -> None:
    (tmp_path / "german").write_text("Größe G R OE S AH\n", encoding="utf-8")
    assert "größe" in read_lexicon(tmp_path / "german")
