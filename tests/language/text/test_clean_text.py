"""Written English as it is spoken."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.language.text.clean_text import sentences


def said(line: str) -> str:
    return " | ".join(" ".join(words) for words in sentences(line))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("He went. “Where?” -- Home!", "he went | where | home"),
        ("to wit--that well-known U-boat", "to wit that well known u boat"),
        ("‘Don’t go!’ 'Tis the boys' hat, O'Brien", "don't go | tis the boys hat o'brien"),
        ("naïve Cæsar’s rÃ©sumÃ© — Œdipus", "naive caesar's resume oedipus"),
        ("Mr. and Mrs. Hall met Dr. No at St. John's.", "mister and missus hall met doctor no at "
         "saint john's"),
        ("M. Dupont and M. de Treville; J. B. Smith", "monsieur dupont and monsieur de treville j "
         "b smith"),
        ("the U.S. Army, etc. and so on", "the u s army et cetera and so on"),
        ("CHAPTER XVII. The End", "chapter seventeen | the end"),
        ("Vol. II, No. 5", "volume two number five"),
        ("It was I. For my part I say no. 5 men", "it was i | for my part i say no | five men"),
        ("Louis XIV and HENRY V spoke", "louis the fourteenth and henry the fifth spoke"),
        ("In 1604, 5,000 men; the 1890s", "in sixteen o four five thousand men the eighteen "
         "nineties"),
        ("on May 12, 1870, the 2nd and 23d", "on may twelfth eighteen seventy the second and twenty"
         " third"),
        ("$1,000.50 and £1, 50% of 3.14", "one thousand dollars fifty cents and one pound fifty per"
         " cent of three point one four"),
        ("$3.5 million, €2 and ¥100", "three point five million dollars two euros and one hundred "
         "yen"),
        ("at 10:30, 9:05 and 7:00", "at ten thirty nine o five and seven o'clock"),
        ("2½ days & 1/2", "two and a half days and one half"),
        ("_Emphasis_ [1] *** καί", "emphasis one"),
        (" *** ", ""),
        ("Call <name> at 5. Is <room-2> or Mr. <last_name> free?", "call <name> at five | is "
         "<room-2> or mister <last_name> free"),
        ("\ue000 and <name>, <Name>, <s> or <unk>", "and <name> name s or unk"),
    ],
)  # fmt: skip
def test_what_is_written_and_what_is_said(written: str, spoken: str) -> None:
    assert said(written) == spoken


@given(st.text() | st.text("0123456789.,:$£%/-' IVXLCmM&<a>\ue000"))
def test_whatever_comes_only_words_come_out(line: str) -> None:
    for words in sentences(line):
        assert words
        assert all(re.fullmatch("[a-z]+('[a-z]+)*|<[a-z0-9_-]+>", word) for word in words)


@given(st.text("abc'. -<>"))
def test_clean_text_stays_as_it_is(line: str) -> None:
    clean = list(sentences(line))
    assert [list(sentences(" ".join(words))) for words in clean] == [[words] for words in clean]
