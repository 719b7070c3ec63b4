"""Written text as an engine is to be told it: words, and punctuation for the melody alone.

Numbers, money, dates, times and abbreviations are written out by us, so that what the manifest
says is what any engine says. What has no sure reading is refused, not guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from earshot.language.errors import UnsayableText
from earshot.language.text.date_words import MONTHS, clock, date
from earshot.language.text.money_words import CURRENCIES, money
from earshot.language.text.names import GIVEN
from earshot.language.text.number_words import (
    cardinal,
    decade,
    decimal,
    digit_string,
    ordinal,
    year,
)
from earshot.language.text.transcript_text import normalise_text

# fmt: off
TITLES = {
    "Mr": "mister", "Mrs": "missus", "Dr": "doctor", "St": "saint", "Jr": "junior",
    "Sr": "senior", "Prof": "professor", "Gen": "general", "Col": "colonel", "Capt": "captain",
    "Lt": "lieutenant", "Maj": "major", "Sgt": "sergeant", "Rev": "reverend", "Hon": "honorable",
    "vs": "versus", "etc": "et cetera",
}
# fmt: on
SIGNS = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "—": ", ",
        "–": "-",
        "…": ",",
        "æ": "ae",
        "œ": "oe",
        "Æ": "Ae",
        "&": " and ",
    }
)
SILENT = re.compile(r"[\"“”()\[\]*_]")
# Signs, abbreviations and capitals that are left when all that has a reading has been written out.
UNSURE = re.compile(
    r"[^A-Za-z' .,;:?!-]|\b[A-Z]{2,}\b|\b[a-z]\.[a-z]\."
    r"|\b(?:Ave|Bros|Co|Esq|Fig|Ft|Inc|Ltd|Mt|Rd|Vol|cf|ib|lb|oz|pp|viz)\."
)
# flite and festival say "Henry the fifth", and "Mary the first saw it".
ROMAN = re.compile(rf"\b(?:[IVXLCDM]{{2,}}|[VX]|(?:{'|'.join(GIVEN)}|Louis) I)\b(?![-'])")
FIRST_YEAR, LAST_YEAR = 1100, 2099
LONGEST_NUMBER = 6  # more digits in a row are a number that names something: digit by digit

MONTH = "|".join(MONTHS)
SIGN = "[" + "".join(CURRENCIES) + "]"
HALF = r"[ap]m\b|[ap]\.m\.|[AP]M\b|[AP]\.M\."
GROUPED = r"\d{1,3}(?:,\d{3})+|\d+"


def _plain(text: str) -> int:
    return int(text.replace(",", ""))


def _whole(text: str) -> str:
    if "," not in text and (len(text) > LONGEST_NUMBER or (len(text) > 1 and text[0] == "0")):
        return digit_string(text)
    number = _plain(text)
    if "," not in text and FIRST_YEAR <= number <= LAST_YEAR:
        return year(number)
    return cardinal(number)


def _date(day: str, month: int, of_year: str | None) -> str:
    if not 1 <= int(day) <= 31 or not 1 <= month <= 12:
        raise UnsayableText(f"no date: day {day} of month {month}")
    return date(int(day), month, int(of_year) if of_year else None)


def _clock(match: re.Match[str]) -> str:
    hour, minute, half = match["hour"], match["minute"] or "0", match["half"] or ""
    if int(hour) > 24 or int(minute) > 59:
        raise UnsayableText(f"no time of the day: {match[0]}")
    return clock(int(hour), int(minute), half.lower().replace(".", ""))


def _money(match: re.Match[str]) -> str:
    units, cents, scale = match["units"], match["cents"], match["scale"]
    if not scale and len(cents or "00") == 2:
        return money(_plain(units) * 100 + int(cents or 0), match["sign"])
    number = decimal(f"{_plain(units)}.{cents}") if cents else cardinal(_plain(units))
    return " ".join([number, *([scale] if scale else []), CURRENCIES[match["sign"]].units])


# What stands on either side of a number that is no part of something else.
ALONE, END = r"(?<![\w.,/'-])", r"(?![\w/']|[.,:-]\d)"
Reading = Callable[[re.Match[str]], str]
NUMBERS: dict[str, Reading] = {
    rf"{ALONE}(?P<sign>{SIGN})(?P<units>{GROUPED})(?:\.(?P<cents>\d\d?))?"
    rf"(?: (?P<scale>thousand|million|billion)\b)?{END}": _money,
    rf"{ALONE}(\d{{4}})-(\d\d)-(\d\d){END}": lambda m: _date(m[3], int(m[2]), m[1]),
    rf"\b({MONTH}) (\d\d?)(?:st|nd|rd|th)?(?:,? (\d{{4}}))?{END}": (
        lambda m: _date(m[2], MONTHS.index(m[1]) + 1, m[3])
    ),
    rf"{ALONE}(?P<hour>\d\d?):(?P<minute>\d\d)(?: ?(?P<half>{HALF}))?{END}": _clock,
    rf"{ALONE}(?P<hour>\d\d?)(?P<minute>) ?(?P<half>{HALF})": _clock,
    rf"{ALONE}(\d{{3}}0)'?s\b": lambda m: decade(int(m[1])),
    rf"{ALONE}({GROUPED})(?:st|nd|rd|th)\b": lambda m: ordinal(_plain(m[1])),
    r"\bNo\. ?(?=\d)": lambda _: "number ",
    rf"{ALONE}(\d*\.\d+){END}": lambda m: decimal(m[1]),
    rf"{ALONE}({GROUPED}){END}": lambda m: _whole(m[1]),
    r"(?<=[a-z]) ?%": lambda _: " percent",
}
WORDS: dict[str, Reading] = {
    rf"\b({'|'.join(TITLES)})\.": lambda m: TITLES[m[1]],
    r"\b[B-HJ-NP-Z]\b(?!['.-])|\b[A-Z]{2,5}\b(?!')": lambda m: letters(m[0]),
}


def letters(word: str) -> str:
    """FBI is "F. B. I.": the full stops make every engine say the letters' names."""
    return " ".join(f"{letter.upper()}." for letter in word)


def spoken_text(written: str) -> str:
    """The words of a sentence, with punctuation that an engine hears but does not say.

    Raises UnsayableText, naming what has no sure reading.
    """
    text = unicodedata.normalize("NFKD", written.translate(SIGNS))
    text = SILENT.sub("", "".join(c for c in text if not unicodedata.combining(c)))
    text = re.sub(r"\s*--+\s*", ", ", text)
    if text.isupper() and len(text.split()) > 1:
        raise UnsayableText(f"all in capitals: {written}")
    if ROMAN.search(text):
        raise UnsayableText(f"letters or a Roman number: {written}")
    has_digits = re.search(r"\d", text) is not None  # few sentences have, and it takes a while
    for pattern, reading in {**(NUMBERS if has_digits else {}), **WORDS}.items():
        text = re.sub(pattern, reading, text)
    text = " ".join(re.sub(r"(?<![A-Za-z])-|-(?![A-Za-z])", " ", text).split())
    unsure = UNSURE.search(text)
    if unsure:
        raise UnsayableText(f"no sure reading of {unsure[0]!r} in {written!r}")
    if not normalise_text(text):
        raise UnsayableText(f"no words in {written!r}")
    return text
