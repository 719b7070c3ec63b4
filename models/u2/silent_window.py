"""Silence as a decoder hears it that was taught with windows of one length.

Whisper's decoder was taught with recordings of 30 s, most of them speech with silence after it: it
ends a text well in silence, and badly where its memory ends with the speech. Its memory of a
segment is therefore filled up with the frames that a silent recording has in those places. They do
not depend on the segment, so that they are computed once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.features.feature_kinds import build_features
from earshot.models.native.late_weights import bring_all
from earshot.models.u2.u2 import U2Model


@torch.no_grad()
def silent_window(model: U2Model) -> Tensor | None:
    """Encoder frames (W, D) of a silent window, heard in the chunks that are the model's default.

    An encoder whose layers wait for their weights gets them. None for a model whose decoder was
    taught with segments as they are.
    """
    decoder = model.whisper_decoder
    if decoder is None or not decoder.config.window_frames:
        return None
    frames, encoder = decoder.config.window_frames, model.encoder
    bring_all(encoder)
    count = (frames - 1) * encoder.subsampling_rate + encoder.right_context + 1
    silence = build_features(model.config.features).silence
    features = silence.to(next(model.parameters())).expand(1, count, -1)
    lengths = torch.tensor([count], device=features.device)
    encoded, _ = encoder(features, lengths, model.config.decoding.chunk_size)
    window: Tensor = encoded[0, :frames]
    return window
