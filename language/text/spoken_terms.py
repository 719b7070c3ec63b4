"""Terms with figures and signs as people say them: GPT-4 is "G P T four".

Figures, money, times of the day and abbreviations are read as in the texts that language models
are made of (`clean_text`), so that a term becomes the words that a graph has. What is a term's own
is here: letters that are named one by one, signs, and numbers that are said in several ways.
"""

import re
from collections.abc import Callable
from re import Match

from earshot.language.text.clean_text import CURRENCIES, ZERO, spelled_out
from earshot.language.text.number_words import SMALL, TENS, digit_string, figures, year

MAX_INITIALS = 3
"""Capitals tied to a figure or a sign are named up to here, though they could be a word: AT&T."""

_SILENT = re.compile("[™®©]")
_PLAIN = re.compile(r"(?:[^\W\d_]|['’\- ])*")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_LEFT_OVER = re.compile(r"[^\w\s'\",.;:!?()\[\]{}/-]")
_TIES = frozenset("0123456789&/-")
_ORDINAL = frozenset(("st", "nd", "rd", "th"))
_VOWELS = frozenset("aeiouy")
_SIGN = "[" + "".join(CURRENCIES) + "]"
_SCALES = {"k": "thousand", "m": "million", "bn": "billion", "b": "billion"}
_RULES: tuple[tuple[str, str | Callable[[Match[str]], str]], ...] = (
    (r"(?<=\d)½", " 1/2"),
    (rf"(\d[\d.,]*)\s?({_SIGN})", r"\2\1"),  # 5 €
    (
        rf"(?i)({_SIGN}\s?\d[\d.,]*)\s?(k|m|bn|b)\b",
        lambda found: f"{found[1]} {_SCALES[found[2].lower()]}",
    ),
    (r"(?<![\w.,])[-−](?=\d)", " minus "),
    (r"(?<=[^\W\d_])(?=\d)", " "),
    (r"(?<=\d)(?=(?!(?:(?i:st|nd|rd|th)|s)\b)[^\W\d_])", " "),
    (r"\b([2-9])0s\b", lambda found: TENS[int(found[1]) - 2][:-1] + "ies"),
    (r"(?<=\d)\s?%|%", " percent "),
    (r"\+", " plus "),
    (r"(?<=\b[A-Z])#", " sharp "),
    (r"#\s?(?=\d)", " number "),
    (r"#(?=\w)", " hashtag "),
    (r"@", " at "),
    (r"=", " equals "),
    (r"°\s?C\b", " degrees celsius "),
    (r"°\s?F\b", " degrees fahrenheit "),
    (r"°", " degrees "),
    (r"\d+(?:\.\d+){2,}", lambda found: found[0].replace(".", " point ")),
    (r"(?<=[^\W_])\.(?=[a-z](?:[a-z]| [a-z]\b))", " dot "),
    ("_", " "),
)
_BARE = re.compile(rf"(?<![\d.,:/]|{_SIGN})\d{{3,}}(?!\d|s\b|/|[.,:]\d|(?i:st|nd|rd|th)\b)")


def is_plain(term: str) -> bool:
    """Whether there are only letters in it, apostrophes and hyphens."""
    return _PLAIN.fullmatch(term) is not None


def is_initialism(word: str) -> bool:
    """Whether nobody could say it but letter by letter: GPT."""
    return len(word) > 1 and word.isupper() and word.isalpha() and not _VOWELS & set(word.lower())


def readings(term: str) -> tuple[str, ...]:
    """The ways to say a term, in words that spaces part; none where a sign has no reading.

    Letters of other scripts stay as they are.
    """
    forms = (_LETTERS.sub(reading, _SILENT.sub("", term)) for reading in (_named, _named_or_said))
    texts = dict.fromkeys(
        _BARE.sub(number, text)
        for text in dict.fromkeys(map(_signs_read, forms))
        for number in (_written, _in_pairs, _in_full, _by_digits)
    )
    spoken = [spelled_out(text) for text in texts]
    if any(map(_LEFT_OVER.search, spoken)):
        return ()
    return tuple(filter(None, dict.fromkeys(" ".join(_WORD.findall(text)) for text in spoken)))


def _signs_read(text: str) -> str:
    for pattern, reading in _RULES:
        text = re.sub(pattern, reading, text)
    return text


def _named(letters: Match[str]) -> str:
    """Letters apart where they are said one by one, or may be; else as they are."""
    run = letters[0]
    initials = run.isupper() and len(run) <= MAX_INITIALS and _is_tied(letters)
    return " ".join(run) if initials else _named_or_said(letters)


def _named_or_said(letters: Match[str]) -> str:
    """Spell out letters that cannot be read as a word (GPT); next to digits lower case too (4k)."""
    run, before = letters[0], letters.string[: letters.start()][-1:]
    tied = _is_tied(letters) or before == "."
    unsayable = tied and run not in _ORDINAL and is_initialism(run.upper())
    return " ".join(run) if unsayable or is_initialism(run) else run


def _is_tied(letters: Match[str]) -> bool:
    """Whether a figure or a sign touches them."""
    start, stop, text = letters.start(), letters.end(), letters.string
    return bool(_TIES & {text[:start][-1:], text[stop : stop + 1]})


def _written(number: Match[str]) -> str:
    """A year may be one, and all else is a cardinal."""
    return number[0]


def _in_pairs(number: Match[str]) -> str:
    """747 is seven forty seven, 4090 forty ninety."""
    digits = number[0]
    if len(digits) == 4:
        return figures(digits) if digits[0] == "0" else year(int(digits), zero=ZERO)
    if len(digits) > 4 or digits[0] == "0" or digits.endswith("00"):
        return digits
    rest = f"{ZERO} {SMALL[int(digits[2])]}" if digits[1] == "0" else figures(digits[1:])
    return f"{SMALL[int(digits[0])]} {rest}"


def _in_full(number: Match[str]) -> str:
    """2026 is two thousand twenty six."""
    return figures(number[0])


def _by_digits(number: Match[str]) -> str:
    """911 is nine one one."""
    digits = number[0]
    return digits if digits.endswith("00") else digit_string(digits)
