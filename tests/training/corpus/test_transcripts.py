"""Transcripts in the letters of a recipe's language."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.transcripts import LostLetters, transcripts
from earshot.training.errors import CorpusError

GERMAN = ["Die Tür ist größer.", "Das Mädchen schläft."]
SOURCE = Path("speech.tsv")


def test_a_manifest_keeps_the_letters_of_its_language(tmp_path: Path) -> None:
    manifest = tmp_path / "speech.tsv"
    rows = [f"{number}.wav\ta\tb\t1.0\t{text}" for number, text in enumerate(GERMAN)]
    manifest.write_text("\n".join(["path\tcorpus\tspeaker\tseconds\ttext", *rows]))
    assert [each.text for each in read_speech(manifest, "de")] == [
        "die tür ist größer",
        "das mädchen schläft",
    ]
    with pytest.raises(CorpusError, match=r"2 of 2 .* lose letters .*'en'.*\[network\] language"):
        read_speech(manifest)


def test_what_has_no_letter_of_the_language_is_not_taken_for_untranscribed() -> None:
    with pytest.raises(CorpusError, match="1 of 1 transcripts lose letters"):
        transcripts(SOURCE, ["Привет", ""], "en")


def test_a_few_transcripts_that_lose_letters_are_counted() -> None:
    written = [*["hello"] * 19, "mañana"]
    with pytest.warns(LostLetters, match="1 of 20 transcripts lose letters .* such as ñ of 'maña"):
        assert transcripts(SOURCE, written, "en")[-1] == "ma ana"
