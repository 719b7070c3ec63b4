"""Boosted words of a hypothesis as their request wrote them."""

from types import SimpleNamespace

from earshot.streaming.boosting.asked_capitals import AskedCapitals
from earshot.streaming.results.asked_words import as_asked
from earshot.streaming.results.hypothesis import SpokenWord

KUBERNETES = AskedCapitals(["Kubernetes"])


def heard(*words: SpokenWord):
    return SimpleNamespace(
        text=" ".join(word.text for word in words), words=words, tokens=(7,), score=-1.0
    )


def boosted(text: str, written: str | None = None, read_out: bool = False) -> SpokenWord:
    return SpokenWord(text, 0, 1, boosted=True, read_out=read_out, written=written)


def test_a_boosted_word_is_told_with_the_requests_capitals() -> None:
    told = as_asked(heard(SpokenWord("about", 0, 1, False), boosted("kubernetes")), KUBERNETES)
    assert told.text == "about Kubernetes"
    assert [word.text for word in told.words] == ["about", "Kubernetes"]
    assert (told.tokens, told.score) == ((7,), -1.0)


def test_the_written_form_keeps_its_mark() -> None:
    told = as_asked(heard(boosted("kubernetes", written="kubernetes,")), KUBERNETES)
    assert [word.written for word in told.words] == ["Kubernetes,"]


def test_a_word_that_is_told_so_already_is_written_so_too() -> None:
    told = as_asked(heard(boosted("Kubernetes", written="kubernetes.")), KUBERNETES)
    assert [(word.text, word.written) for word in told.words] == [("Kubernetes", "Kubernetes.")]


def test_a_mark_of_a_model_becomes_part_of_the_written_form_alone() -> None:
    told = as_asked(heard(boosted("kubernetes,")), KUBERNETES)
    assert told.text == "Kubernetes"
    assert [(word.text, word.written) for word in told.words] == [("Kubernetes", "Kubernetes,")]


def test_a_model_writes_what_was_asked_for_in_small_letters_its_own_way() -> None:
    told = as_asked(heard(boosted("Brown"), boosted("sugar.")), AskedCapitals(["brown sugar"]))
    assert told.text == "brown sugar"
    assert [word.written for word in told.words] == ["Brown", "sugar."]


def test_a_word_without_a_written_form_gets_none() -> None:
    told = as_asked(heard(boosted("kubernetes")), KUBERNETES)
    assert [word.written for word in told.words] == [None]


def test_a_phrase_that_was_read_out_is_no_spelling_of_the_requests() -> None:
    said = heard(boosted("kubernetes", read_out=True))
    assert as_asked(said, KUBERNETES) is said


def test_without_a_phrase_of_the_request_nothing_changes() -> None:
    said = heard(SpokenWord("kubernetes", 0, 1, False))
    assert as_asked(said, KUBERNETES) is said
