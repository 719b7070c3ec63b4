import pytest

from earshot.service.deepgram.response.paragraphs import (
    PARAGRAPH_WORDS,
    SENTENCE_WORDS,
    paragraphs_of,
)
from earshot.streaming.events import Alternative, Final, Word


def final(start_s, *texts, speech_final=True):
    """Words of 0.4 s without pauses; a number is a pause of so many seconds."""
    words, at_s = [], start_s
    for text in texts:
        if isinstance(text, str):
            words.append(Word(text, at_s, at_s + 0.4, 0.9))
            at_s += 0.4
        else:
            at_s += text
    best = Alternative(" ".join(word.text for word in words), tuple(words), 0.9, 0.0)
    cause = "endpoint" if speech_final else "max_utterance"
    return Final(start_s, at_s - start_s, (best,), speech_final, False, cause)


def texts(finals):
    return [[each.text for each in one.sentences] for one in paragraphs_of(finals).paragraphs]


def test_a_pause_ends_a_sentence_and_a_long_one_a_paragraph():
    finals = [final(0.0, "one", "two", 0.7, "three"), final(3.0, "four"), final(6.0, "five")]
    assert texts(finals) == [["one two", "three", "four"], ["five"]]


def test_times_and_words_are_those_of_the_sentences():
    divided = paragraphs_of([final(0.0, "one", "two", 0.7, "three"), final(9.0, "four")])
    first, second = divided.paragraphs
    assert divided.transcript == "\none two three\n\nfour"
    assert (first.start, first.end, first.num_words) == (0.0, 1.9, 3)
    assert [(each.start, each.end) for each in first.sentences] == [(0.0, 0.8), (1.5, 1.9)]
    assert (second.start, second.end, second.num_words) == (9.0, 9.4, 1)


def test_an_utterance_that_was_only_cut_goes_on():
    finals = [final(0.0, "one", "two", speech_final=False), final(0.9, "three")]
    assert texts(finals) == [["one two three"]]


def test_a_stop_ends_a_sentence_whatever_the_pause():
    assert texts([final(0.0, "one"), final(0.5, "two")]) == [["one", "two"]]


@pytest.mark.parametrize(
    ("said", "sentences"),
    [
        ("Mr. Brown is in. Good.", ["Mr. Brown is in.", "Good."]),
        ("The U.S. Senate met at 9 a.m. today.", ["The U.S. Senate met at 9 a.m. today."]),
        ("It was 9 a.m. They met.", ["It was 9 a.m.", "They met."]),
        ('She said "no." It is 3.5.', ['She said "no."', "It is 3.5."]),
        ("好。 好？", ["好。", "好？"]),
    ],
)
def test_a_sentence_ends_where_a_model_wrote_so_and_not_at_an_abbreviation(said, sentences):
    assert texts([final(0.0, *said.split())]) == [sentences]


def test_nobody_speaks_for_ever():
    spoken = [final(4.0 * i, *["on"] * 10, speech_final=False) for i in range(30)]
    divided = paragraphs_of(spoken)
    counts = [len(each.text.split()) for one in divided.paragraphs for each in one.sentences]
    assert max(counts) <= SENTENCE_WORDS
    assert max(one.num_words for one in divided.paragraphs) < PARAGRAPH_WORDS + SENTENCE_WORDS
    assert sum(counts) == 300


def test_silence_has_none():
    divided = paragraphs_of([])
    assert (divided.transcript, divided.paragraphs) == ("\n", [])


@pytest.mark.parametrize("text", ["我爱你", "i love you"])
def test_the_text_is_as_the_language_writes_it(text):
    parts = list(text) if " " not in text else text.split()
    words = tuple(Word(part, i * 0.4, i * 0.4 + 0.4, 0.9) for i, part in enumerate(parts))
    best = Alternative(text, words, 0.9, 0.0)
    assert texts([Final(0.0, 2.0, (best,), True, False, "end")]) == [[text]]


def test_where_a_text_has_marks_they_end_sentences_and_pauses_do_not():
    def marked(start_s, *texts):
        words = tuple(
            Word(text, start_s + i, start_s + i + 0.2, 0.9) for i, text in enumerate(texts)
        )
        best = Alternative(" ".join(texts), words, 0.9, -1.0)
        return Final(start_s, 9.0, (best,), True, False, "endpoint")

    said = [
        marked(0.0, "Well,", "is", "it?", "It", "is"),
        marked(6.0, "so.", "And"),
        marked(20.0, "now"),
    ]
    sentences = [
        sentence.text for each in paragraphs_of(said).paragraphs for sentence in each.sentences
    ]
    assert sentences == ["Well, is it?", "It is so.", "And", "now"]
