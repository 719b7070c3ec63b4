"""Sentences and paragraphs from pauses: the model writes no punctuation."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from earshot.service.deepgram.response.wire import Paragraph, Paragraphs, Sentence
from earshot.service.word_spans import word_spans
from earshot.streaming.events import Alternative, Final

SENTENCE_PAUSE_S = 0.6
"""Within an utterance; readers of books who pause for so long end a clause, most of the time."""
PARAGRAPH_PAUSE_S = 2.0
SENTENCE_WORDS = 60
"""A speaker without pauses is cut after so many words, where an utterance was cut."""
PARAGRAPH_WORDS = 80
"""A paragraph of so many ends with its sentence, however short the pause."""


@dataclass(frozen=True)
class _Said:
    """Words without a pause."""

    text: str
    start_s: float
    end_s: float
    words: int

    def then(self, other: "_Said") -> "_Said":
        return _Said(
            f"{self.text} {other.text}", self.start_s, other.end_s, self.words + other.words
        )


def paragraphs_of(finals: Iterable[Final]) -> Paragraphs:
    """Divide a recording's best reading; finals without words are none of it."""
    paragraphs = [_paragraph(sentences) for sentences in _grouped(_sentences(finals))]
    texts = (" ".join(each.text for each in paragraph.sentences) for paragraph in paragraphs)
    # Deepgram's transcript begins with a line end.
    return Paragraphs(transcript="\n" + "\n\n".join(texts), paragraphs=paragraphs)


def _sentences(finals: Iterable[Final]) -> list[_Said]:
    """The speaker's stops, and long enough pauses; what only cut a long utterance joins again."""
    sentences: list[_Said] = []
    stopped = True
    for final in finals:
        for part in _parts(final.alternatives[0]):
            if not stopped and _go_on(sentences[-1], part):
                sentences[-1] = sentences[-1].then(part)
            else:
                sentences.append(part)
            stopped = False
        stopped = final.speech_final or not sentences
    return sentences


def _go_on(sentence: _Said, part: _Said) -> bool:
    near = part.start_s - sentence.end_s < SENTENCE_PAUSE_S
    return near and sentence.words + part.words <= SENTENCE_WORDS


def _parts(best: Alternative) -> Iterator[_Said]:
    words, spans = best.words, word_spans(best)
    first = 0
    for after in range(1, len(words) + 1):
        ends = after == len(words)
        if ends or words[after].start_s - words[after - 1].end_s >= SENTENCE_PAUSE_S:
            text = best.text[spans[first][0] : spans[after - 1][1]]
            yield _Said(text, words[first].start_s, words[after - 1].end_s, after - first)
            first = after


def _grouped(sentences: Sequence[_Said]) -> Iterator[list[_Said]]:
    group: list[_Said] = []
    for sentence in sentences:
        if group and (
            sentence.start_s - group[-1].end_s >= PARAGRAPH_PAUSE_S
            or sum(each.words for each in group) >= PARAGRAPH_WORDS
        ):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def _paragraph(sentences: Sequence[_Said]) -> Paragraph:
    return Paragraph(
        sentences=[
            Sentence(text=each.text, start=round(each.start_s, 3), end=round(each.end_s, 3))
            for each in sentences
        ],
        num_words=sum(each.words for each in sentences),
        start=round(sentences[0].start_s, 3),
        end=round(sentences[-1].end_s, 3),
    )
