"""Text as transcripts hold it."""

from __future__ import annotations

import pytest

from earshot.language.text.transcript_text import lost_letters, normalise_text


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("Printing, in the only sense", "printing in the only sense"),
        ("the 'Chronicle' isn't  here.", "the chronicle isn't here"),
        ("Weiß—café; don’t", "wei cafe don't"),
        ("1999?", ""),
    ],
)
def test_texts_are_lower_case_words(text: str, normalised: str) -> None:
    assert normalise_text(text) == normalised


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("Mädchen, größer!", "mädchen größer"),
        ("Ma\u0308dchen", "mädchen"),
        ("Я люблю Москву.", "я люблю москву"),
        ("¿Qué pasó, señor?", "qué pasó señor"),
        ("L’été, c'est l’été: ''oui''", "l'été c'est l'été oui"),
        ("मैं हिन्दी बोलता हूँ।", "मैं हिन्दी बोलता हूँ"),
        ("می\u200cخواهم", "میخواهم"),
        ("1999?", ""),
    ],
)
def test_letters_of_other_languages_stay_with_their_marks(text: str, normalised: str) -> None:
    assert normalise_text(text, "de") == normalised


@pytest.mark.parametrize(
    ("text", "language", "lost"),
    [
        ("Isn't the café 3 % better?", "en", ""),
        ("Größer, Mädchen!", "en", "ßä"),
        ("Größer, Mädchen!", "de", ""),
    ],
)
def test_letters_that_english_has_not_are_told(text: str, language: str, lost: str) -> None:
    assert lost_letters(text, language) == lost
