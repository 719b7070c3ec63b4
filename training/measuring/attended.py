"""Texts of the second pass, by the decoders that a model has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from earshot.language.g2p.pronouncer import pronouncer_of
from earshot.models.checkpoints.assembly import LoadedModel, u2_of, writer_of
from earshot.models.u2.attention_search import attention_beam_search
from earshot.models.u2.held_to_ctc import CtcHearing
from earshot.models.u2.rescoring import attention_scores
from earshot.models.u2.silent_window import silent_window
from earshot.models.whisper_decoder.heard_segment import HeardSegment, RankedText, written_texts
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer
from earshot.training.measuring.prefix_beam import Prefix

Texts = dict[str, str]


class Attended(Protocol):
    """A second pass over the hypotheses of the first."""

    def __call__(
        self, memory: Tensor, lengths: Tensor, beams: Sequence[Sequence[Prefix]]
    ) -> list[Texts]:
        """Texts of the modes `attention` and `attention_rescoring` for each row.

        memory (B, T, D) of lengths (B,); beams: of each row the hypotheses, best first.
        """


def attended_by(loaded: LoadedModel, beam_size: int) -> Attended:
    """By Whisper's decoder in a model that has it, else by its small ones.

    Raises ModelError for a Whisper decoder whose tokens are not there.
    """
    decoder = u2_of(loaded).whisper_decoder
    return BySmall(loaded, beam_size) if decoder is None else ByWhisper(loaded, decoder)


class BySmall:
    """See `Attended`; by decoders over the model's own tokens."""

    def __init__(self, loaded: LoadedModel, beam_size: int) -> None:
        self._model = u2_of(loaded)
        self._tokenizer = loaded.tokenizer
        self._beam_size = beam_size

    def __call__(
        self, memory: Tensor, lengths: Tensor, beams: Sequence[Sequence[Prefix]]
    ) -> list[Texts]:
        """See `Attended`."""
        rescored = self._rescore(memory, lengths, beams)
        found = attention_beam_search(self._model, memory, lengths, self._beam_size)
        return [
            {
                "attention": self._tokenizer.decode(own[0].tokens),
                "attention_rescoring": self._tokenizer.decode(tokens),
            }
            for own, tokens in zip(found, rescored, strict=True)
        ]

    def _rescore(
        self, memory: Tensor, lengths: Tensor, beams: Sequence[Sequence[Prefix]]
    ) -> list[tuple[int, ...]]:
        """The best prefix of each utterance by CTC and both attention decoders together."""
        decoding = self._model.config.decoding
        owner = [row for row, beam in enumerate(beams) for _ in beam]
        hypotheses = [prefix.tokens for beam in beams for prefix in beam]
        scores = attention_scores(self._model, memory, lengths, hypotheses, owner)
        share = decoding.reverse_weight
        sides = zip(scores.left, scores.right, strict=True)
        attention = [(1 - share) * left + share * right for left, right in sides]
        best: list[tuple[int, ...]] = []
        start = 0
        for beam in beams:
            totals = [
                decoding.ctc_weight * prefix.score + attention[start + place]
                for place, prefix in enumerate(beam)
            ]
            best.append(beam[totals.index(max(totals))].tokens)
            start += len(beam)
        return best


class ByWhisper:
    """See `Attended`; as segments of streams end. Rows without a word are not asked about."""

    def __init__(self, loaded: LoadedModel, decoder: WhisperDecoder) -> None:
        model = u2_of(loaded)
        self._tokenizer = loaded.tokenizer
        self._scorer = WhisperScorer.of(decoder, writer_of(loaded), silence=silent_window(model))
        self._hearing = CtcHearing(model, loaded.tokenizer, pronouncer_of(loaded))
        self._ctc_weight = model.config.decoding.ctc_weight

    def __call__(
        self, memory: Tensor, lengths: Tensor, beams: Sequence[Sequence[Prefix]]
    ) -> list[Texts]:
        """See `Attended`."""
        texts = [{"attention": "", "attention_rescoring": ""} for _ in beams]
        rows = [row for row, beam in enumerate(beams) if beam[0].tokens]
        if rows:
            heard = [self._heard(memory[row, : lengths[row]], beams[row]) for row in rows]
            found = written_texts(self._scorer, heard, memory[rows], lengths[rows])
            for row, each, written in zip(rows, heard, found, strict=True):
                texts[row] = self._told(each, written)
        return texts

    def _heard(self, memory: Tensor, beam: Sequence[Prefix]) -> HeardSegment:
        spans = [self._tokenizer.word_spans(prefix.tokens) for prefix in beam]
        words = [[text.lower() for text, _, _ in spelled] for spelled in spans]
        first_pass = [prefix.score for prefix in beam]
        return HeardSegment(words, first_pass, self._hearing.of(memory), self._ctc_weight)

    def _told(self, heard: HeardSegment, found: Sequence[RankedText]) -> Texts:
        """The decoder's own text where it fits, else the best, as a stream has it by attention."""
        ranked = sorted(found, key=lambda each: -each.score)
        own = found[len(heard.asked) :] if heard.adds_own else ranked
        return {"attention": own[0].text.form, "attention_rescoring": ranked[0].text.form}
