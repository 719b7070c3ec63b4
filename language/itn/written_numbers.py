"""Numbers, years, money and dates in English words, as people write them.

text2num reads the numbers. The rules here choose which of them become digits: where what was meant
is in doubt ("eleven forty five", "sixty second", "five or six hundred") the words stay as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from text_to_num import Occurence

from earshot.language.itn.spoken_numbers import PLURALS, SCALES, Run, number_runs
from earshot.language.itn.spoken_years import MONTHS, comes_before, is_counted, year_of

SMALLEST = 10
"""Smaller numbers stay words, as in books, unless they are money, percent or a date."""
_CONNECTIVES = frozenset(("and", "or", "to"))
_VERBS = frozenset((("may", "first"), ("may", "second"), ("march", "first"), ("march", "second")))
_DOLLARS = frozenset(("dollar", "dollars", "buck", "bucks"))
_UNITS = _DOLLARS | {"cent", "cents", "percent", "per"}
_BEFORE_CENTS = frozenset(("and", "or", "oh"))
_ZEROS = frozenset(("zero", "nought", "o", "oh"))


@dataclass(frozen=True)
class Written:
    """The words from `first` up to `stop` as people write them."""

    first: int
    stop: int
    text: str


def written_numbers(words: Sequence[str]) -> list[Written]:
    """Words to write otherwise, in order and without overlap, in lower-case ``words``."""
    return _Sentence(words).written()


class _Sentence:
    """The words around each number decide how it is written."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._runs = number_runs(words)
        self._starting = {run.first: run for run in self._runs}
        self._ending = {run.stop: run for run in self._runs}
        self._year_ends: set[int] = set()  # of those found so far: one year makes the next likely

    def written(self) -> list[Written]:
        found = {run.first: written for run in self._runs if (written := self._run(run))}
        pairs = [pair for pair in pairwise(self._runs) if self._joined(*pair)]
        for pair in [*pairs, *reversed(pairs)]:
            if not self._alike(pair, [found.get(run.first) for run in pair]):
                for run in pair:
                    found.pop(run.first, None)
        return _without_overlap(found.values())

    def _word(self, index: int) -> str:
        return self._words[index] if 0 <= index < len(self._words) else ""

    def _joined(self, left: Run, right: Run) -> bool:
        return right.first == left.stop + 1 and self._word(left.stop) in _CONNECTIVES

    def _alike(self, pair: tuple[Run, Run], written: list[Written | None]) -> bool:
        """Not "five or 600", "30 or $40", nor "40 or 50,000" for "forty or fifty thousand"."""
        if None in written or len({each.text[0] == "$" for each in written if each}) > 1:
            return False
        if self._goes_on_as_years(*pair):
            return False
        left, right = (
            {self._word(run.stop - 1), self._word(run.stop)} & {"hundred", "thousand", *SCALES}
            for run in pair
        )
        return bool(left) or not right

    def _goes_on_as_years(self, left: Run, right: Run) -> bool:
        """Whether years go on: "of eighteen nineteen and twenty", of which none is a year."""
        return (
            left.stop in self._year_ends
            and left.numbers[-1].value < right.numbers[0].value < 100
            and len(right.numbers) == 1
        )

    def _run(self, run: Run) -> Written | None:
        if self._word(run.stop) in PLURALS:
            return None
        if len(run.numbers) > 1:
            return self._year(run) or self._digits(run)
        if run.numbers[0].is_ordinal:
            return self._date(run) or self._ordinal(run)
        return self._money(run) or self._percent(run) or self._cardinal(run) or self._digits(run)

    def _year(self, run: Run) -> Written | None:
        """A year: "in nineteen ninety eight"; other pairs may be times, prices or two numbers."""
        year = year_of(run)
        if not year or is_counted(self._word(run.stop)) or not self._dated(run, year):
            return None
        self._year_ends.add(run.stop)
        return Written(run.first, run.stop, year)

    def _dated(self, run: Run, year: str) -> bool:
        """By the word before it, by a day ("may fifth") or by another year ("1914 and")."""
        before = self._word(run.first - 1)
        day = self._ending.get(run.first)
        after_day = day is not None and day.numbers[0].is_ordinal and self._date(day) is not None
        after_year = before in _CONNECTIVES and run.first - 1 in self._year_ends
        return comes_before(before, year) or after_day or after_year

    def _date(self, run: Run) -> Written | None:
        """A date: "May the 5th" or "5th of May"; not in "i may first"."""
        day = run.numbers[0]
        if day.value > 31 or (self._word(run.first - 1), self._word(run.first)) in _VERBS:
            return None
        if self._word(run.stop) == "of" and (month := self._word(run.stop + 1)) in MONTHS:
            return Written(run.first, run.stop + 2, f"{day.text} of {month.capitalize()}")
        the = "the " if self._word(run.first - 1) == "the" else ""
        first = run.first - (2 if the else 1)
        if (month := self._word(first)) in MONTHS:
            return Written(first, run.stop, f"{month.capitalize()} {the}{day.text}")
        return None

    def _ordinal(self, run: Run) -> Written | None:
        """From 10th; "sixty second" may be a time, "a tenth" and "hundredth" fractions."""
        ordinal = run.numbers[0]
        last = self._word(run.stop - 1)
        doubtful = last in {"second", "hundredth", "thousandth"} or self._word(run.first - 1) == "a"
        if ordinal.value < SMALLEST or doubtful:
            return None
        return Written(run.first, run.stop, ordinal.text)

    def _money(self, run: Run) -> Written | None:
        """An amount of money: "$12", "$12.50", "$3 million"."""
        number = run.numbers[0]
        stop = run.stop + (self._word(run.stop) in SCALES)
        unit = "dollar" if number.value == 1 and stop == run.stop else "dollars"
        and_a_half = self._word(stop + 1) == "and" and self._word(stop + 3) == "half"
        if self._word(stop) != unit or self._is_part(run) or and_a_half:
            return None
        if stop > run.stop:
            text = f"${_figures(number)} {self._word(run.stop)}"
        elif number.text.isdigit():
            text = f"${_figures(number)}"
        else:
            return None
        return self._with_cents(Written(run.first, stop + 1, text))

    def _with_cents(self, dollars: Written) -> Written:
        run = self._starting.get(dollars.stop + (self._word(dollars.stop) == "and"))
        if run is None or self._word(run.stop) != "cents" or not dollars.text[-1].isdigit():
            return dollars
        cents = run.numbers[0]
        if len(run.numbers) > 1 or cents.is_ordinal or not cents.text.isdigit() or cents.value > 99:
            return dollars
        return Written(dollars.first, run.stop + 1, f"{dollars.text}.{int(cents.value):02d}")

    def _percent(self, run: Run) -> Written | None:
        unit = (self._word(run.stop), self._word(run.stop + 1))
        length = 1 if unit[0] == "percent" else 2 if unit == ("per", "cent") else 0
        if not length or self._is_part(run):
            return None
        return Written(run.first, run.stop + length, f"{_figures(run.numbers[0])}%")

    def _cardinal(self, run: Run) -> Written | None:
        number = run.numbers[0]
        small = number.value < SMALLEST and number.text.isdigit()
        zeros = number.text.isdigit() and number.text[0] == "0"
        spoken_on = self._word(run.stop) in {"past", "o'clock"} or self._word(run.stop - 1) == "oh"
        after_clock = self._word(run.first - 1) == "past"
        if small or zeros or spoken_on or after_clock or self._is_part(run):
            return None
        return Written(run.first, run.stop, _figures(number))

    def _digits(self, run: Run) -> Written | None:
        """Three or more digits said one by one, if nobody is counting "one two three"."""
        texts = [number.text for number in run.numbers]
        if not all(each.isdigit() and len(each.lstrip("0")) < 2 for each in texts):
            return None
        first = run.first
        while self._word(first - 1) == "oh":
            first -= 1
        text = "0" * (run.first - first) + "".join(texts)
        counting = all(int(right) == int(left) + 1 for left, right in pairwise(text))
        doubtful = self._is_part(run) or self._may_be_no_digits(first, run.stop)
        if counting or doubtful or len(text) < 3:
            return None
        return Written(first, run.stop, text)

    def _may_be_no_digits(self, first: int, stop: int) -> bool:
        """A time ("five oh five") or "oh nine one one", unless it has a zero that is no cry.

        Nor is "double five" read: with it the whole stays words.
        """
        words = [self._word(index) for index in range(first, stop)]
        is_time = len(words) == 3 and words[0] not in _ZEROS and words[1] in {"o", "oh"}
        cry = "oh" in {words[0], words[-1]} and _ZEROS.isdisjoint(words[1:-1])
        repeats = {self._word(first - 1), self._word(stop)} & {"double", "triple"}
        return is_time or cry or bool(repeats)

    def _is_part(self, run: Run) -> bool:
        """Whether a number goes on before or after it: "a hundred", "one point zero point two"."""
        before = self._word(run.first - 1)
        if before == "and":
            before = self._word(run.first - 2)
        if before in {"point", *SCALES} or self._word(run.first) in {"hundred", "thousand"}:
            return True
        if self._is_bare_cents(run) or self._has_bare_cents(run):
            return True
        after = run.stop + 1
        after += self._word(after) == "and"
        return self._word(run.stop) in {"point", *SCALES} and after in self._starting

    def _has_bare_cents(self, run: Run) -> bool:
        after = run.stop + 1
        after += self._word(after) in _BEFORE_CENTS
        cents = self._starting.get(after)
        return cents is not None and self._is_bare_cents(cents)

    def _is_bare_cents(self, run: Run) -> bool:
        """Whether cents lack their unit: "a dollar fifty", "five dollars and ten"."""
        dollars = run.first - 1
        dollars -= self._word(dollars) in _BEFORE_CENTS
        if self._word(dollars) not in _DOLLARS or self._word(dollars - 1) in SCALES:
            return False
        number = run.numbers[0]
        with_zero = number.text[0] == "0" or self._word(run.first - 1) == "oh"
        least = 0 if with_zero else SMALLEST
        small = least <= number.value < 100 and not number.is_ordinal
        return small and self._word(run.stop) not in _UNITS


def _figures(number: Occurence) -> str:
    """With separators from five digits on: 2004, but 75,000."""
    text = str(number.text)
    return f"{int(text):,}" if text.isdigit() and len(text) > 4 and text[0] != "0" else text


def _without_overlap(found: Iterable[Written]) -> list[Written]:
    """Drop what an earlier one took in: the cents of "$12.50"."""
    kept: list[Written] = []
    for written in found:
        if not kept or written.first >= kept[-1].stop:
            kept.append(written)
    return kept
