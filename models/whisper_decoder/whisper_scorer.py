"""Segments as Whisper's decoder hears them: its own texts, and the scores of given ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from earshot.models.native.precision import Precision
from earshot.models.native.weights import runs_natively
from earshot.models.whisper_decoder.growing_texts import Listening, Question, TextScorer
from earshot.models.whisper_decoder.native_texts import NativeTexts
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.own_text import OwnText
from earshot.models.whisper_decoder.pen import Pen, TextTokens, WrittenWord
from earshot.models.whisper_decoder.torch_texts import TorchTexts

MOST_PASSES = 24
"""Passes for an own text, then it stands as it is with the rest of the draft."""

FOREIGN = -15.0
"""The log-probability of a token that texts are not made of."""


@dataclass(frozen=True)
class WrittenText:
    """Words with log-probabilities in nats: of each word, and of all with the end after them."""

    words: tuple[WrittenWord, ...]
    by_word: tuple[float, ...]
    total: float

    @property
    def form(self) -> str:
        """All words as they are written."""
        return " ".join(word.form for word in self.words)


class WhisperScorer:
    """Listens to segments of many streams at once. For one thread at a time."""

    def __init__(self, scorer: TextScorer, pen: Pen, positions: int) -> None:
        self._scorer = scorer
        self.pen = pen
        self.positions = positions

    @classmethod
    def of(
        cls, decoder: WhisperDecoder, tokens: TextTokens, precision: Precision = "float32"
    ) -> WhisperScorer:
        """The fastest for this decoder where it is; its weights must not change from now on."""
        pen = Pen(tokens, decoder.config.vocab_size, decoder.config.end)
        texts: TextScorer
        if runs_natively(decoder):
            texts = NativeTexts(decoder, pen.kept, 1, precision)
        else:
            texts = TorchTexts(decoder, pen.kept, 1)
        return cls(texts, pen, decoder.config.positions)

    def listen(self, memory: Tensor, lengths: Tensor) -> Segments:
        """Begin with memory (S, T, D) of lengths (S,)."""
        return Segments(self, self._scorer.listen(memory, lengths))


class Segments:
    """S segments that are listened to."""

    def __init__(self, scorer: WhisperScorer, listening: Listening) -> None:
        self._pen = scorer.pen
        self._positions = scorer.positions
        self._listening = listening
        self._start = len(listening.texts[0]) - 1 if listening.texts else 0

    def write(
        self, drafts: Sequence[Sequence[str]], on_pass: Callable[[], None] = lambda: None
    ) -> list[list[WrittenWord]]:
        """The decoder's own text of each segment; drafts: what the first pass has heard, bare.

        `on_pass` is called before each pass of the decoder.
        """
        own = [
            OwnText(text, draft, self._pen, self._positions)
            for text, draft in zip(self._listening.texts, drafts, strict=True)
        ]
        for _ in range(MOST_PASSES):
            on_pass()
            for each in own:
                each.guess()
            self._listening.score()
            for each in own:
                each.walk()
            if all(each.ended for each in own):
                break
        for each in own:
            each.stand()
        return [self._pen.read(each.tokens) for each in own]

    def score(self, lists: Sequence[Sequence[Sequence[WrittenWord]]]) -> list[list[WrittenText]]:
        """Score texts, a list of them for each segment."""
        paths = [[self._path(row, words) for words in own] for row, own in enumerate(lists)]
        self._listening.score()
        questions = [question for own in paths for path in own for question in path]
        answers = iter(self._listening.answer([q for q in questions if self._is_kept(q)]))
        return [
            [
                self._told(words, [next(answers) if self._is_kept(q) else FOREIGN for q in path])
                for words, path in zip(texts, own, strict=True)
            ]
            for texts, own in zip(lists, paths, strict=True)
        ]

    def _is_kept(self, question: Question) -> bool:
        return self._pen.is_kept(question.token)

    def _path(self, row: int, words: Sequence[WrittenWord]) -> list[Question]:
        """The questions about a text: each of its tokens, and the end after them."""
        node, found = self._start, []
        text = self._listening.texts[row]
        for token in self._pen.write(words)[: self._positions - self._start - 2]:
            found.append(Question(row, node, token))
            node = text.follow(node, [token])
        return [*found, Question(row, node, self._pen.end)]

    def _told(self, words: Sequence[WrittenWord], log_probs: list[float]) -> WrittenText:
        rest = iter(log_probs)
        by_word = tuple(sum(next(rest, 0.0) for _ in self._pen.of(word.form)) for word in words)
        return WrittenText(tuple(words), by_word, sum(log_probs))
