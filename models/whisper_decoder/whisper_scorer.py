"""Segments as Whisper's decoder hears them: its own texts, and the scores of given ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from earshot.models.native.precision import Precision
from earshot.models.native.weights import runs_natively
from earshot.models.whisper_decoder.asked_texts import AskedText, ask
from earshot.models.whisper_decoder.growing_texts import Listening, TextScorer
from earshot.models.whisper_decoder.native_texts import NativeTexts
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.own_text import OwnText
from earshot.models.whisper_decoder.pen import Pen, TextTokens, WrittenWord
from earshot.models.whisper_decoder.torch_texts import TorchTexts

MOST_PASSES = 48
"""Passes for an own text, then it stands as it is with the rest of the draft."""


@dataclass(frozen=True)
class WrittenText:
    """Words with log-probabilities in nats: of each word, and of all with the end after them.

    whole: whether all of them were asked about; else the total is the most that it can be. Of a
    text that the decoder has no room for they never are.
    """

    words: tuple[WrittenWord, ...]
    by_word: tuple[float, ...]
    total: float
    whole: bool = True

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
        cls,
        decoder: WhisperDecoder,
        tokens: TextTokens,
        precision: Precision = "float32",
        silence: Tensor | None = None,
    ) -> WhisperScorer:
        """The fastest for this decoder where it is; its weights must not change from now on.

        silence: (W, D), for a decoder that was taught with windows: see `silent_window`.
        """
        pen = Pen(tokens, decoder.config.vocab_size, decoder.config.end)
        texts: TextScorer
        if runs_natively(decoder):
            texts = NativeTexts(decoder, pen.kept, 1, precision, silence)
        else:
            texts = TorchTexts(decoder, pen.kept, 1, silence)
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

    def rank(
        self,
        lists: Sequence[Sequence[Sequence[WrittenWord]]],
        priors: Sequence[Sequence[float]],
        wanted: Sequence[int],
        on_pass: Callable[[], None] = lambda: None,
    ) -> list[list[WrittenText]]:
        """Score texts, a list of them for each segment, until its best ones are known.

        priors: what each text's log-probability is added to. wanted: how many of the best.
        `on_pass` is called before each pass of the decoder.
        """
        asked = [
            [self._asked(row, words, prior) for words, prior in zip(texts, own, strict=True)]
            for row, (texts, own) in enumerate(zip(lists, priors, strict=True))
        ]
        ask(self._listening, asked, wanted, on_pass)
        return [
            [self._told(words, each) for words, each in zip(texts, own, strict=True)]
            for texts, own in zip(lists, asked, strict=True)
        ]

    def _asked(self, row: int, words: Sequence[WrittenWord], prior: float) -> AskedText:
        most = self._positions - self._start - 2
        tokens = self._pen.write(words)
        cut = len(tokens) > most
        tokens = tokens[:most] if cut else [*tokens, self._pen.end]
        text = self._listening.texts[row]
        return AskedText(row, text, self._start, tokens, prior, self._pen.is_kept, cut)

    def _told(self, words: Sequence[WrittenWord], asked: AskedText) -> WrittenText:
        rest = iter(asked.log_probs)
        by_word = tuple(sum(next(rest, 0.0) for _ in self._pen.of(word.form)) for word in words)
        return WrittenText(tuple(words), by_word, sum(asked.log_probs), asked.whole)
