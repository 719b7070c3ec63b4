"""Words on the wire, of a model that writes capitals, marks and figures itself."""

import pytest

from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.served_model import ServedModel
from earshot.service.writing import AS_HEARD, Writing
from earshot.streaming.events import Alternative, Final, Partial, Word

TEXT = "Hello, world. I paid $5."
BARE = "hello world i paid $5"


def said():
    words = tuple(Word(each, at / 2, (at + 1) / 2, 0.9) for at, each in enumerate(TEXT.split()))
    return (Alternative(TEXT, words, 0.9, -1.0),)


RESULTS = [Partial(0.0, 3.0, said(), 5), Final(0.0, 3.0, said(), True, False, "end")]


def sent(result, writing):
    messages = ResultMessages("r", ServedModel("m", "1", "a", "u"), writing=writing)
    [alternative] = messages.results(result).channel.alternatives
    words = [(word.word, word.punctuated_word) for word in alternative.words]
    return alternative.transcript, words


@pytest.mark.parametrize("result", RESULTS)
def test_words_are_bare_beside_the_form_that_the_model_wrote(result):
    for writing in (Writing(punctuate=True), Writing(punctuate=True, smart_format=True)):
        words = list(zip(BARE.split(), TEXT.split(), strict=True))
        assert sent(result, writing) == (TEXT, words)


@pytest.mark.parametrize("result", RESULTS)
def test_who_does_not_ask_gets_no_capitals_and_no_marks(result):
    assert sent(result, AS_HEARD) == (BARE, [(each, each) for each in BARE.split()])
