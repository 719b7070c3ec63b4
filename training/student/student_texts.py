"""What a student in training writes, by its transducer's head."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.training.data.batch import pad
from earshot.training.data.speech import Speech
from earshot.training.measuring.greedy import texts_by
from earshot.training.measuring.greedy_labels import greedy_labels


@torch.no_grad()
def student_texts(model: FastConformerModel, tokenizer: Tokenizer, speech: Speech) -> list[str]:
    """Each utterance, heard in the model's first context as it is when streamed."""
    head, device = model.transducer, model.features.window.device
    assert head is not None

    def labels(indices: Sequence[int]) -> list[list[int]]:
        batch = pad([speech.features(each) for each in indices], [[] for _ in indices]).to(device)
        encoded, lengths = model.encode(batch.features, batch.feature_lengths)
        rows = zip(encoded, lengths.tolist(), strict=True)
        return [greedy_labels(head, row[:length]) for row, length in rows]

    model.eval()
    return texts_by(labels, tokenizer, speech)
