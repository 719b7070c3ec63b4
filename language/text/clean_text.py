"""Written English as it is spoken: sentences of lower case words without signs or figures.

The words are those of transcripts: a to z and apostrophes within a word. What has to be guessed is
guessed the way readers of books read: ``1604`` as a year, ``Louis XIV`` as the fourteenth, ``£5``
as five pounds. A class of words (``call <name> at noon``) stays as it is.
"""

import re
import unicodedata
from collections.abc import Iterator
from re import Match

from earshot.decoder_kernels.lm.class_names import CLASS_NAME
from earshot.language.text.date_words import MONTHS
from earshot.language.text.money_words import CURRENCIES as MONEY
from earshot.language.text.money_words import Currency
from earshot.language.text.number_words import (
    LARGE,
    as_ordinal,
    decade,
    digit_string,
    figures,
    roman_value,
    year,
)

ABBREVIATIONS = {
    "mr": "mister", "mrs": "missus", "messrs": "messieurs", "dr": "doctor", "st": "saint",
    "prof": "professor", "rev": "reverend", "hon": "honorable", "capt": "captain",
    "col": "colonel", "gen": "general", "lieut": "lieutenant", "lt": "lieutenant",
    "sergt": "sergeant", "sgt": "sergeant", "gov": "governor", "jr": "junior", "sr": "senior",
    "esq": "esquire", "mme": "madame", "mlle": "mademoiselle", "mons": "monsieur", "vol": "volume",
    "etc": "et cetera", "viz": "namely", "vs": "versus", "co": "company", "mt": "mount",
}  # fmt: skip
"""With a full stop."""
CURRENCIES = {**MONEY, "¥": Currency("yen", "yen", "sen", "sen")}
ZERO = "o"
"""Of years and times of the day: "nineteen o five"."""
HEADINGS = "Chapter|Book|Part|Volume|Vol|Canto|Act|Scene|Section|Letter|Stave|Number|No|Page"

_SIGNS = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "`": "'", "′": "'", "“": '"', "”": '"', "«": '"', "»": '"',
     "–": " -- ", "—": " -- ", "…": " ... ", "\ufeff": " ", "\xad": "", "æ": "ae", "Æ": "Ae",
     "œ": "oe", "Œ": "Oe", "ø": "o", "Ø": "O", "ß": "ss", "ð": "d", "þ": "th", "ł": "l",
     "½": " 1/2", "¼": " 1/4", "¾": " 3/4"}
)  # fmt: skip
_MANGLED = re.compile("[ÂÃâ][\x80-\xff€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œ]{1,2}")
_ABBREVIATION = re.compile(rf"\b({'|'.join(ABBREVIATIONS)})\.(?!\w)", re.IGNORECASE)
_MONSIEUR = re.compile(r"(?<!\. )\bM\.(?= (?:[A-Z][a-z]|d[e']|du |le ))")
_INITIALS = re.compile(r"\b((?:[A-Z]\. ?){2,}|[A-HJ-Z]\.)(?= ?[A-Z]| [a-z]|[,;])")
_HEADING = re.compile(rf"\b({HEADINGS}|{HEADINGS.upper()})\.? ([IVX]|[IVXLC]{{2,}}|\d+)\b")
_REIGN = re.compile(r"\b([A-Z][a-z]+|[A-Z]{3,}) ([IVX]{2,}|V)\b")
_SIGN = "[" + "".join(CURRENCIES) + "]"
_LARGE_SUM = re.compile(rf"({_SIGN})\s?(\d[\d,]*(?:\.\d+)?) ({'|'.join(LARGE)})\b")
_MONEY = re.compile(rf"({_SIGN})\s?(\d[\d,]*)(?:\.(\d\d)\b)?")
_PERCENT = re.compile(r"(?<=\d)\s?(?:%|per cent\b)")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)\b")
_MONTH = "|".join(MONTHS)
_DATE = re.compile(rf"\b({_MONTH}|{_MONTH.upper()}) ([12]?\d|3[01])\b(?![,.:]\d)")
_ORDINAL = re.compile(r"\b(\d[\d,]*)(?:st|nd|rd|th|d)\b", re.IGNORECASE)
_HALF = re.compile(r"(?<=\d) 1/2\b|\b1/2\b")
_DECIMAL = re.compile(r"\b(\d[\d,]*)\.(\d+)\b")
_YEAR = re.compile(r"(?<![\d,.])(1[0-9]\d\d|20\d\d)(?![\d,]\d)(s)?\b")
_NUMBER = re.compile(r"\d+(?:,\d{3})*")
_SENTENCE_END = re.compile(r"""[.?!]+["')\]]*(?:\s+|$)""")
_CLASS = re.compile(f"<{CLASS_NAME}>")
_CLASS_SIGN = "\ue000"
"""Of private use: what stands for classes while words for figures are found."""
_WORD = re.compile(rf"{_CLASS_SIGN}|[a-z]+(?:'[a-z]+)*")


def sentences(line: str) -> Iterator[list[str]]:
    """The sentences of a line of text that have words."""
    line = line.replace(_CLASS_SIGN, " ")
    classes = iter(_CLASS.findall(line))
    for sentence in _SENTENCE_END.split(spelled_out(_CLASS.sub(f" {_CLASS_SIGN} ", line))):
        if words := _WORD.findall(sentence.lower()):
            yield [next(classes) if word == _CLASS_SIGN else word for word in words]


def spelled_out(line: str) -> str:
    """Plain letters and signs for rarer ones; words for figures and abbreviations."""
    line = _plain(line)
    line = _HEADING.sub(_heading, line)
    line = _REIGN.sub(_reign, line)
    line = _MONSIEUR.sub("monsieur", line)
    line = _INITIALS.sub(lambda found: found[1].replace(".", " "), line)
    line = _ABBREVIATION.sub(_abbreviation, line)
    return _figures(line) if any(map(str.isdigit, line)) else line.replace("&", " and ")


def _plain(line: str) -> str:
    """ASCII letters, straight quotes."""
    if line.isascii():
        return line
    line = _MANGLED.sub(_unmangled, line).translate(_SIGNS)
    decomposed = unicodedata.normalize("NFKD", line)
    return "".join(each for each in decomposed if not unicodedata.combining(each))


def _unmangled(found: Match[str]) -> str:
    """UTF-8 that was read as Latin text, read again."""
    for encoding in ("cp1252", "latin-1"):
        try:
            return found[0].encode(encoding).decode()
        except UnicodeError:
            continue
    return found[0]


def _figures(line: str) -> str:
    line = line.replace("&", " and ")
    line = _LARGE_SUM.sub(lambda found: f"{found[2]} {found[3]} {CURRENCIES[found[1]].units}", line)
    line = _MONEY.sub(_money, line)
    line = _PERCENT.sub(" per cent ", line)
    line = _CLOCK.sub(_clock, line)
    line = _DATE.sub(lambda found: found[1] + _said(as_ordinal(figures(found[2]))), line)
    line = _ORDINAL.sub(lambda found: _said(as_ordinal(figures(_digits(found[1])))), line)
    line = _HALF.sub(lambda found: " and a half" if found[0][0] == " " else " one half ", line)
    line = _DECIMAL.sub(_decimal, line)
    line = _YEAR.sub(_year, line)
    return _NUMBER.sub(lambda found: _said(figures(_digits(found[0]))), line)


def _heading(found: Match[str]) -> str:
    """``CHAPTER IV``."""
    name = {"vol": "volume", "no": "number"}.get(found[1].lower(), found[1])
    digits = found[2] if found[2].isdigit() else str(roman_value(found[2]))
    return found[0] if digits == "0" else f"{name}{_said(figures(digits))}"


def _reign(found: Match[str]) -> str:
    value = roman_value(found[2])
    return f"{found[1]} the{_said(as_ordinal(figures(str(value))))}" if value else found[0]


def _abbreviation(found: Match[str]) -> str:
    """Titles are capitals: ``gen.`` may be anything."""
    name = found[1].lower()
    plain = found[1].islower() and name not in ("etc", "viz", "vs", "esq")
    return found[0] if plain else ABBREVIATIONS[name]


def _money(found: Match[str]) -> str:
    currency = CURRENCIES[found[1]]
    whole, part = _digits(found[2]), (found[3] or "00").lstrip("0")
    words = [figures(whole), currency.unit if whole == "1" else currency.units]
    if part:
        words += [figures(part), currency.cent if part == "1" else currency.cents]
    return _said(*words)


def _clock(found: Match[str]) -> str:
    hour, minute = figures(str(int(found[1]))), found[2]
    if minute == "00":
        return _said(hour, "o'clock")
    return _said(hour, *([ZERO] if minute[0] == "0" else []), figures(str(int(minute))))


def _decimal(found: Match[str]) -> str:
    return _said(figures(_digits(found[1])), "point", digit_string(found[2]))


def _year(found: Match[str]) -> str:
    return _said((decade if found[2] else year)(int(found[1]), zero=ZERO))


def _digits(text: str) -> str:
    return text.replace(",", "")


def _said(*words: str) -> str:
    return f" {' '.join(words)} "
