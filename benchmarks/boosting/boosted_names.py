"""Claim: a boost brings two of three rare names back, and writes hardly one that nobody said.

The names of ``rare_names.tsv``, which the first pass of an earlier model misheard, are boosted
alone and in lists with others that nobody says (*distractors*, drawn from the dictionary with a
fixed seed). Recall is the share of the list's places that have their name then. False alarms are
words of the list that are written in an hour of recordings that say none of them.
First pass: with an engine's own options; a name that the graph lacks is in the list in each way
that the G2P would say it. Finals: as clients get them, recordings transcribed whole; their false
alarms are of lists of ten of the names themselves. A weight counts as much as its limits leave
(decision 0037), and 20 is beyond all of them.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from benchmarks.boosting.boost_lists import read_dictionary
from benchmarks.boosting.boosted_finals import BoostedFinals
from benchmarks.boosting.named_search import NamedSearch, bundled_search
from benchmarks.boosting.rare_names import BOOKS, LETTERS, Misheard, read_list
from benchmarks.report import SHARED, below_claim, table, write_report
from earshot.service.library.transcriber import Transcriber
from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import name_of, read_dev_speech
from earshot.training.corpus.utterance import Utterance

WEIGHTS = (0.0, 3.0, 8.0, 20.0)
DISTRACTORS = (0, 10, 100)
HOUR_S = 3600.0
TOGETHER = 10
"""Names in a list that is long anyway: so many fewer lists have to be compiled."""
LISTS_AN_HOUR = 4
"""Lists of each length that are searched for false alarms."""
TOGETHER_IN_FINALS = 10
FINALS_AN_HOUR = 2
"""Lists of `TOGETHER_IN_FINALS` names that finals are searched with for false alarms."""


@dataclass(frozen=True)
class NameList:
    """Names that are said, the places where, and what else is in the list."""

    places: Sequence[Misheard]
    others: Sequence[str]

    @property
    def names(self) -> list[str]:
        """Everything in the list, names that are said before the others."""
        return [*dict.fromkeys(each.word for each in self.places), *self.others]


@dataclass(frozen=True)
class Outcome:
    """What lists of one length at one weight did: places with their name, false alarms an hour."""

    found: int
    places: int
    alarms: float

    def __str__(self) -> str:
        return f"{100 * self.found / self.places:.0f} / {self.alarms:.1f}"


def lists(places: Sequence[Misheard], words: Sequence[str], count: int) -> Iterator[NameList]:
    """Lists with `count` distractors out of `words`: one a name, or one a group of names."""
    rng = random.Random(count)
    names = list(dict.fromkeys(each.word for each in places))
    size = TOGETHER if count > TOGETHER else 1
    for start in range(0, len(names), size):
        some = set(names[start : start + size])
        others = rng.sample(words, count - (len(some) - 1))
        yield NameList([each for each in places if each.word in some], others)


def false_alarms(names: Sequence[str], texts: Sequence[str]) -> int:
    """How often words of a list are written, where none of them is said."""
    listed = set(names)
    return sum(word in listed for text in texts for word in text.split())


class Material:
    """Places, an hour that says none of the names, and distractors that nobody says."""

    def __init__(self) -> None:
        dev = read_dev_speech(SHARED / "speech" / "dev.tsv")
        self.train = read_speech(SHARED / "speech" / "train.tsv")
        self.places = read_list()
        wanted = {each.recording for each in self.places}
        self.saying = {name_of(each): each for each in dev if name_of(each) in wanted}
        self.hour = self._hour(dev)
        self.hours = sum(each.seconds for each in self.hour) / HOUR_S
        said = {word for each in [*self.hour, *dev] for word in each.text.split()}
        dictionary = read_dictionary(SHARED / "text" / "cmudict.dict")
        self.distractors = [
            word
            for word in dictionary
            if len(word) >= LETTERS and word not in said and "'" not in word
        ]

    def _hour(self, dev: Sequence[Utterance]) -> list[Utterance]:
        """Development recordings first, then read books of the training data, to an hour."""
        names = {each.word for each in self.places}
        chosen, seconds = [], 0.0
        for each in [*dev, *(each for each in self.train if each.corpus == BOOKS)]:
            if seconds < HOUR_S and each.text and not names & set(each.text.split()):
                chosen.append(each)
                seconds += each.seconds
        return chosen

    @property
    def from_training(self) -> list[Utterance]:
        """What of the hour a model may have been trained on."""
        trained = {each.path for each in self.train}
        return [each for each in self.hour if each.path in trained]

    @property
    def speech(self) -> list[Utterance]:
        """All of it, each recording once."""
        return list({each.path: each for each in [*self.saying.values(), *self.hour]}.values())


def outcome(material: Material, search: NamedSearch, count: int, weight: float) -> Outcome:
    """Recall over all places, and false alarms of some of the lists."""
    found, alarms = 0, []
    all_lists = list(lists(material.places, material.distractors, count))
    step = max(1, len(all_lists) // LISTS_AN_HOUR)
    for number, each in enumerate(all_lists):
        names = search.table(each.names, weight)
        texts = search.texts([material.saying[place.recording] for place in each.places], names)
        found += _named(each.places, texts)
        if number % step == 0 and number // step < LISTS_AN_HOUR:
            alarms.append(false_alarms(each.names, search.texts(material.hour, names)))
    return Outcome(found, len(material.places), sum(alarms) / len(alarms) / material.hours)


def rows(material: Material, search: NamedSearch) -> list[list[str]]:
    """A line for each weight, lists in columns."""
    made = []
    for weight in WEIGHTS:
        began = time.process_time()
        outcomes = [str(outcome(material, search, count, weight)) for count in DISTRACTORS]
        print(f"{weight:g}: {outcomes}, {time.process_time() - began:.0f} s of CPU", flush=True)
        made.append([f"{weight:g}", *outcomes])
    return made


def final_rows(material: Material, finals: BoostedFinals) -> list[list[str]]:
    """A line without boosts, and one for each weight."""
    made = [["none", _percent(material, _found_in_finals(material, finals, None)), ""]]
    for weight in WEIGHTS[1:]:
        found = _found_in_finals(material, finals, weight)
        alarms = _alarms_in_finals(material, finals, weight)
        print(f"finals at {weight:g}: {found} places, {alarms:.1f} false alarms", flush=True)
        made.append([f"{weight:g}", _percent(material, found), f"{alarms:.1f}"])
    return made


def _found_in_finals(material: Material, finals: BoostedFinals, weight: float | None) -> int:
    """Places whose name is written when it is boosted alone, or not at all."""
    texts = [
        finals.text(
            material.saying[each.recording],
            [] if weight is None else [each.word],
            weight or 0.0,
        )
        for each in material.places
    ]
    return _named(material.places, texts)


def _alarms_in_finals(material: Material, finals: BoostedFinals, weight: float) -> float:
    names = list(dict.fromkeys(each.word for each in material.places))
    random.Random(1).shuffle(names)
    alarms = 0
    for start in range(0, FINALS_AN_HOUR * TOGETHER_IN_FINALS, TOGETHER_IN_FINALS):
        some = names[start : start + TOGETHER_IN_FINALS]
        alarms += false_alarms(some, finals.texts(material.hour, some, weight))
    return alarms / FINALS_AN_HOUR / material.hours


def _named(places: Sequence[Misheard], texts: Sequence[str]) -> int:
    return sum(place.word in text.split() for place, text in zip(places, texts, strict=True))


def _percent(material: Material, found: int) -> str:
    return f"{100 * found / len(material.places):.0f}"


def described(material: Material, search: NamedSearch) -> str:
    """What is measured on."""
    names = dict.fromkeys(each.word for each in material.places)
    lacking = [name for name in names if search.words.find(name) is None]
    several = [name for name in lacking if len(search.spellings(name)) > 1]
    train = sum(each.seconds for each in material.from_training) / 60
    in_books = sum(each.seconds for each in material.hour if each.corpus == BOOKS) / 60
    heard = f"{train:.0f} of them from training" if train else "none from training"
    return f"""
{len(material.places)} places of {len(names)} names in {len(material.saying)} recordings. The graph
lacks {len(lacking)} of the names; of {len(several)} of those the G2P knows several pronunciations.
{60 * material.hours:.0f} minutes say none of the names: {in_books:.0f} of read books, {heard}.
""".strip()


def main() -> None:
    """Run it; write docs/benchmarks/boosted_names.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    torch.set_num_threads(1)
    material = Material()
    search = bundled_search(material.speech)
    with Transcriber(threads=1) as transcriber:
        heard = final_rows(material, BoostedFinals(transcriber))
    header = ["weight", "alone", *(f"{count:,} others" for count in DISTRACTORS[1:])]
    body = "\n\n".join([
        below_claim(__doc__),
        described(material, search),
        "## First pass\n\n"
        "Percent of the places that have their name / false alarms an hour, by distractors:",
        table(header, rows(material, search)),
        "## Finals",
        table(["weight", "places with their name, %", "false alarms an hour"], heard),
    ])  # fmt: skip
    print(write_report("boosted_names", "Rare names, boosted", body))


if __name__ == "__main__":
    main()
