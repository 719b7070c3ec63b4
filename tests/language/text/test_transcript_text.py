"""Text as transcripts hold it."""

from __future__ import annotations

import pytest

from earshot.language.text.transcript_text import normalise_text


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
