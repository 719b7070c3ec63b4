"""Sentences and paragraphs: by marks where a text has some, else by pauses alone."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from earshot.service.deepgram.response.wire import Paragraph, Paragraphs, Sentence
from earshot.service.word_spans import word_spans
from earshot.service.written_words import are_initials
from earshot.streaming.events import Alternative, Final

SENTENCE_PAUSE_S = 0.6
"""Within an utterance; readers of books who pause for so long end a clause, most of the time."""
PARAGRAPH_PAUSE_S = 2.0
SENTENCE_WORDS = 60
"""A speaker without pauses is cut after so many words, where an utterance was cut."""
PARAGRAPH_WORDS = 80
"""A paragraph of so many ends with its sentence, however short the pause."""
_STOPS = (".", "?", "!", "。", "？", "！")
_CLOSING = '"”»)]'
_TITLES = frozenset(("mr.", "mrs.", "ms.", "dr.", "prof."))


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
    """The text's full stops, or else the speaker's: what only cut a long utterance joins again."""
    said = list(finals)
    if any(_stops(word.text) for final in said for word in final.alternatives[0].words):
        return _marked_sentences(said)
    return _paused_sentences(said)


def _marked_sentences(finals: Iterable[Final]) -> list[_Said]:
    """A sentence goes on over utterances until its mark, but for the pause of a paragraph."""
    sentences: list[_Said] = []
    for final in finals:
        best = final.alternatives[0]
        for part in _parts(best, _stops_of(best)):
            last = sentences[-1] if sentences else None
            if last and not _stops(last.text) and _go_on(last, part, PARAGRAPH_PAUSE_S):
                sentences[-1] = last.then(part)
            else:
                sentences.append(part)
    return sentences


def _paused_sentences(finals: Iterable[Final]) -> list[_Said]:
    sentences: list[_Said] = []
    stopped = True
    for final in finals:
        best = final.alternatives[0]
        for part in _parts(best, _long_pauses(best)):
            if not stopped and _go_on(sentences[-1], part, SENTENCE_PAUSE_S):
                sentences[-1] = sentences[-1].then(part)
            else:
                sentences.append(part)
            stopped = False
        stopped = final.speech_final or not sentences
    return sentences


def _stops_of(best: Alternative) -> list[bool]:
    """Whether a sentence ends with each word."""
    texts = [word.text for word in best.words]
    return [_ends(text, after) for text, after in zip(texts, [*texts[1:], ""], strict=False)]


def _ends(text: str, after: str) -> bool:
    """Not with "Mr.", nor with "a.m." or "U.S." where none can be seen to begin behind it."""
    if are_initials(text) and after:
        return text.islower() and after[0].isupper()
    return _stops(text) and text.lower() not in _TITLES


def _stops(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(_STOPS)


def _long_pauses(best: Alternative) -> list[bool]:
    """Whether a long pause follows each word but the last."""
    return [
        after.start_s - before.end_s >= SENTENCE_PAUSE_S for before, after in pairwise(best.words)
    ]


def _go_on(sentence: _Said, part: _Said, pause_s: float) -> bool:
    near = part.start_s - sentence.end_s < pause_s
    return near and sentence.words + part.words <= SENTENCE_WORDS


def _parts(best: Alternative, ends: Sequence[bool]) -> Iterator[_Said]:
    """ends: whether a part ends with each word; the last one ends one in any case."""
    words, spans = best.words, word_spans(best)
    first = 0
    for after in range(1, len(words) + 1):
        if after == len(words) or ends[after - 1]:
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
