"""How well a transducer's head writes development recordings, chunk by chunk."""

from __future__ import annotations

from collections import defaultdict

import jiwer
import torch

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.u2.u2 import U2Model
from earshot.training.data.speech import Speech
from earshot.training.measuring.greedy import heard_batch, length_batches
from earshot.training.transducer.greedy_labels import greedy_labels


class HeadYardstick:
    """Word errors of greedy decoding."""

    judge = "dev_wer"

    def __init__(self, speech: Speech, tokenizer: Tokenizer) -> None:
        self._speech = speech
        self._tokenizer = tokenizer

    def measure(self, model: U2Model, chunk_size: int) -> dict[str, float]:
        """Word error rates by corpus, and their mean. Leaves the model in evaluation mode."""
        pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
        texts = self.texts(model, chunk_size)
        for utterance, text in zip(self._speech.utterances, texts, strict=True):
            pairs[utterance.corpus].append((utterance.text, text))
        errors = {
            corpus: float(jiwer.wer([said for said, _ in group], [found for _, found in group]))
            for corpus, group in pairs.items()
        }
        mean = sum(errors.values()) / len(errors)
        return {self.judge: mean, **{f"dev_{corpus}": each for corpus, each in errors.items()}}

    @torch.no_grad()
    def texts(self, model: U2Model, chunk_size: int) -> list[str]:
        """What the head writes of each recording."""
        model.eval()
        head = model.transducer
        assert head is not None
        texts = [""] * len(self._speech)
        counts = [self._speech.frame_count(index) for index in range(len(self._speech))]
        device = next(model.parameters()).device
        for indices in length_batches(counts):
            batch = heard_batch(model, self._speech, indices).to(device)
            encoded, lengths = model.encoder(batch.features, batch.feature_lengths, chunk_size, -1)
            for index, row, length in zip(indices, encoded, lengths.tolist(), strict=True):
                texts[index] = self._tokenizer.decode(greedy_labels(head, row[:length]))
        return texts
