"""The list of rare names, and how lists are made of it and counted."""

from pathlib import Path

import pytest

from benchmarks.boosting.boosted_names import false_alarms, lists
from benchmarks.boosting.rare_names import (
    LETTERS,
    Misheard,
    common_words,
    read_list,
    write_list,
)
from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import is_put_aside, name_of

PLACES = [Misheard(f"books/{number}.opus", f"name{number % 12}") for number in range(15)]
WORDS = [f"word{number}" for number in range(3000)]


def test_each_place_is_said_in_a_development_recording_that_is_looked_at(speech_dir: Path) -> None:
    dev = {name_of(each): each for each in read_speech(speech_dir / "dev.tsv")}
    for place in read_list():
        assert place.word in dev[place.recording].text.split()
        assert not is_put_aside(dev[place.recording])
        assert len(place.word) >= LETTERS


def test_there_are_places_enough_to_judge_by() -> None:
    assert len(set(read_list())) >= 40


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_list(PLACES, tmp_path / "names.tsv")
    assert read_list(tmp_path / "names.tsv") == PLACES


def test_a_word_that_books_write_small_is_no_name() -> None:
    text = "A rose is Rose. He saw Quilter and the reader saw rose and Reader."
    assert "rose" in common_words(text)
    assert "quilter" not in common_words(text)


def test_a_name_that_books_write_small_by_exception_is_a_name() -> None:
    assert "ithaca" not in common_words("Ithaca " * 20 + "ithaca")


@pytest.mark.parametrize("count", [0, 1, 10, 100, 1000])
def test_each_place_is_in_one_list_that_has_its_name(count: int) -> None:
    made = list(lists(PLACES, WORDS, count))
    assert sorted(p.recording for each in made for p in each.places) == sorted(
        p.recording for p in PLACES
    )
    assert all(place.word in each.names for each in made for place in each.places)


@pytest.mark.parametrize("count", [0, 1, 10, 100, 1000])
def test_a_name_has_so_many_others_beside_it(count: int) -> None:
    assert {len(set(each.names)) for each in lists(PLACES, WORDS, count)} == {count + 1}


def test_false_alarms_are_all_places_where_words_of_the_list_are_written() -> None:
    assert false_alarms(["ada", "bo"], ["ada said bo", "nobody", "ada ada"]) == 4
