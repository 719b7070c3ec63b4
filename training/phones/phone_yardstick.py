"""How well a model in training hears phones: loss and errors on development recordings.

Word errors of greedy tokens say nothing of a model whose phones a graph will search; the loss that
it is trained by, and errors under a small language model of phones, do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import jiwer
import torch
from torch import Tensor

from earshot.models.config import PHONE_BLANK
from earshot.models.u2.u2 import U2Model
from earshot.training.data.batch import pad, pad_tokens, with_flush
from earshot.training.data.silence import silence_of
from earshot.training.data.speech import Speech
from earshot.training.measuring.greedy import length_batches
from earshot.training.network.ctc_losses import ctc_losses
from earshot.training.phones.phone_denominator import PhoneDenominator
from earshot.training.phones.phone_search import PhoneSearch
from earshot.training.phones.phones import PhoneLabels


@dataclass
class HeardPhones:
    """Phones of one corpus, said and heard, one text an utterance; nats of CTC-CRF loss."""

    loss: float = 0.0
    said: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Phones that were said."""
        return sum(len(text.split()) for text in self.said)


class PhoneYardstick:
    """Measures models with a phone head of their own on utterances whose sounds are known."""

    judge = "dev_phone_errors"

    def __init__(self, speech: Speech, labels: PhoneLabels, trigrams: Tensor) -> None:
        known = [place for place, phones in enumerate(labels.utterances) if phones]
        self._speech = speech.select(known)
        self._phones = [labels.utterances[place] or () for place in known]
        self._denominator = PhoneDenominator(trigrams)
        self._search = PhoneSearch(trigrams)

    @torch.no_grad()
    def measure(self, model: U2Model, chunk_size: int) -> dict[str, float]:
        """Loss in nats a phone and phone error rate, by corpus and as means over corpora.

        Chunk by chunk, as streamed. Leaves the model in evaluation mode.
        """
        model.eval()
        found: dict[str, HeardPhones] = defaultdict(HeardPhones)
        counts = [self._speech.frame_count(index) for index in range(len(self._speech))]
        for indices in length_batches(counts):
            self._measure_batch(model, chunk_size, indices, found)
        loss = {corpus: each.loss / each.count for corpus, each in found.items()}
        errors = {corpus: float(jiwer.wer(each.said, each.heard)) for corpus, each in found.items()}
        return {
            "dev_loss": _mean(loss),
            "dev_phone_errors": _mean(errors),
            **{f"dev_loss_{corpus}": value for corpus, value in loss.items()},
            **{f"dev_phone_errors_{corpus}": value for corpus, value in errors.items()},
        }

    def _measure_batch(
        self,
        model: U2Model,
        chunk_size: int,
        indices: Sequence[int],
        found: dict[str, HeardPhones],
    ) -> None:
        log_probs, lengths = self._posteriors(model, chunk_size, indices)
        phones, counts = pad_tokens([self._phones[index] for index in indices])
        said = ctc_losses(log_probs, lengths, phones, counts, PHONE_BLANK)
        losses = said + self._denominator.log_sum(log_probs, lengths) * (said > 0)
        heard = self._search.best(log_probs, lengths)
        for index, loss, path in zip(indices, losses.tolist(), heard, strict=True):
            corpus = found[self._speech.utterances[index].corpus]
            corpus.loss += loss
            corpus.said.append(_text(self._phones[index]))
            corpus.heard.append(_text(path))

    def _posteriors(
        self, model: U2Model, chunk_size: int, indices: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        device = next(model.parameters()).device
        context = model.encoder.right_context
        silence = silence_of(model.config.features)
        rows = [with_flush(self._speech.features(index), context, silence) for index in indices]
        batch = pad(rows, [[] for _ in rows]).to(device)
        encoded, lengths = model.encoder(batch.features, batch.feature_lengths, chunk_size, -1)
        log_probs = model.phone_log_probs(encoded).cpu()
        return log_probs, lengths.cpu() * (log_probs.size(1) // encoded.size(1))


def _text(phones: Sequence[int]) -> str:
    return " ".join(map(str, phones))


def _mean(values: dict[str, float]) -> float:
    return sum(values.values()) / len(values)
