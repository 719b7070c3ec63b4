import json
from dataclasses import replace

import pytest

from earshot.service.deepgram.file_answer import FileAnswer
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.request.parameters import ListenParameters
from earshot.service.served_model import ServedModel
from earshot.service.transcript import Transcript
from earshot.service.writing import Writing
from earshot.streaming.events import Alternative, Final, Word
from earshot.streaming.stream_config import StreamConfig


@pytest.fixture
def transcript():
    said = ["i", "saw", "twenty", "three"]
    words = tuple(Word(text, index / 2, (index + 1) / 2, 0.9) for index, text in enumerate(said))
    best = Alternative("i saw twenty three", words, 0.9, 0.0)
    return Transcript([Final(0.0, 2.0, (best,), True, False, "end")])


def body(transcript, form, smart_format):
    messages = ResultMessages(
        "r", ServedModel("m", "1", "a", "u"), writing=Writing(smart_format=smart_format)
    )
    parameters = ListenParameters(StreamConfig(), None, form)
    return FileAnswer(parameters, messages, "0" * 64).body(transcript)


@pytest.mark.parametrize("form", ["json", "text", "srt", "vtt"])
def test_smart_format_reaches_every_format(transcript, form):
    assert "i saw twenty three" in body(transcript, form, False)
    assert "I saw 23" in body(transcript, form, True)


def test_json_keeps_the_words_as_heard(transcript):
    results = json.loads(body(transcript, "json", True))["results"]
    for holder in (results["channels"][0]["alternatives"][0], results["utterances"][0]):
        assert holder["transcript"] == "I saw 23"
        number = holder["words"][2]
        assert (number["word"], number["punctuated_word"]) == ("twenty three", "23")
        assert (number["start"], number["end"]) == (1.0, 2.0)


def test_json_warns_of_utterances_that_only_the_first_pass_has_heard(transcript):
    assert "warnings" not in json.loads(body(transcript, "json", False))["metadata"]
    transcript.finals = [replace(transcript.finals[0], second_pass_failed=True)]
    [warning] = json.loads(body(transcript, "json", True))["metadata"]["warnings"]
    assert warning == {
        "parameter": "mode",
        "type": "second_pass_failed",
        "message": "the second pass failed; of 1 utterances 1 lack it",
    }


def test_the_transcript_itself_stays_as_heard(transcript):
    body(transcript, "text", True)
    assert transcript.text() == "i saw twenty three\n"


@pytest.mark.parametrize("smart_format", [False, True])
def test_paragraphs_are_written_as_all_else(transcript, smart_format):
    messages = ResultMessages(
        "r", ServedModel("m", "1", "a", "u"), writing=Writing(smart_format=smart_format)
    )
    parameters = ListenParameters(StreamConfig(), None, "json", paragraphs=True)
    answer = FileAnswer(parameters, messages, "0" * 64).body(transcript)
    (reading,) = json.loads(answer)["results"]["channels"][0]["alternatives"]
    assert reading["paragraphs"]["transcript"] == f"\n{reading['transcript']}"
    assert reading["paragraphs"]["paragraphs"][0]["num_words"] == len(reading["words"])
    assert "paragraphs" not in body(transcript, "json", smart_format)


@pytest.mark.parametrize("form", ["json", "text", "srt", "vtt"])
@pytest.mark.parametrize(
    ("writing", "text"),
    [
        (Writing(), "hello world i paid $5"),
        (Writing(punctuate=True), "Hello, world. I paid $5."),
        (Writing(punctuate=True, smart_format=True), "Hello, world. I paid $5."),
    ],
)
def test_what_a_model_wrote_itself_is_in_every_format_as_asked(form, writing, text):
    said = "Hello, world. I paid $5."
    words = tuple(Word(each, at / 2, (at + 1) / 2, 0.9) for at, each in enumerate(said.split()))
    heard = Transcript([Final(0.0, 3.0, (Alternative(said, words, 0.9, 0.0),), True, False, "end")])
    messages = ResultMessages("r", ServedModel("m", "1", "a", "u"), writing=writing)
    answer = FileAnswer(ListenParameters(StreamConfig(), None, form), messages, "0" * 64)
    assert text in answer.body(heard)
