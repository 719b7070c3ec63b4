"""What the peer's encoder hears, beside what our own layers hear, chunk by chunk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.nemo_streams.peer_network import PeerEncoder
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.contexts import context_mask
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.positions import relative_positions

CHANNEL, TIME, KNOWN = "cache_last_channel", "cache_last_time", "cache_last_channel_len"
INPUTS = ("audio_signal", "length", CHANNEL, TIME, KNOWN)
OUTPUTS = ("outputs", "encoded_lengths", f"{CHANNEL}_next", f"{TIME}_next", f"{KNOWN}_next")
CHECKED_FRAMES = 84
"""More than the left context."""
LOUDNESS, SPREAD = -11.0, 3.7
"""Of features of recordings."""
MAX_DIFFERENCE = 1e-3
"""Between frames, which deviate by 1."""


def check(network: PeerEncoder, path: Path, rounded: bool) -> None:
    """Tell how far frames by onnxruntime are from ours; raises AssertionError unless `rounded`."""
    context = AttentionContext(network.left, network.chunk - 1)
    chunks, mels = CHECKED_FRAMES // network.chunk, network.encoder.config.features_size
    drawn = torch.randn(network.window + network.shift * (chunks - 1), mels)
    features = LOUDNESS + SPREAD * drawn
    with torch.inference_mode():
        expected = whole_utterance(network.encoder, context, features, network.extra)
    found = heard(path, network, features)
    difference = (found - expected[: len(found)]).abs()
    print(
        f"[{context.left}, {context.right}] {path.name}: {len(found)} frames differ by "
        f"{float(difference.max()):.2g} at most, by {float(difference.mean()):.2g} in the mean"
    )
    assert rounded or float(difference.max()) < MAX_DIFFERENCE, "the peer's is another network"


def whole_utterance(
    encoder: FastConformerEncoder, context: AttentionContext, features: Tensor, extra: int
) -> Tensor:
    """Frames (T', D) of features (T, F) by our layers, as a stream of the peer's hears them.

    The peer begins at the first frame that hears no edge: the `extra` ones before are not there.
    """
    x = encoder.stem(features[None], torch.tensor([len(features)]))[0][:, extra:]
    seen = context_mask(x.size(1), context, "chunked_limited")[None]
    positions, valid = relative_positions(x.size(1), x.size(1), x), torch.ones(x.shape[:2]).bool()
    for layer in encoder.layers:
        x = layer(x, positions, seen, valid)
    return x[0]


def first_chunk(network: PeerEncoder, features: Tensor) -> tuple[Tensor, ...]:
    """What a stream's first chunk of features (T, F) hears."""
    config = network.encoder.config
    return (
        features[: network.window].T[None],
        torch.tensor([network.window]),
        torch.zeros(1, config.layers, network.left, config.size),
        torch.zeros(1, config.layers, config.size, config.kernel - 1),
        torch.tensor([0]),
    )


def heard(path: Path, network: PeerEncoder, features: Tensor) -> Tensor:
    """Frames (T', D) of all chunks of features, by onnxruntime."""
    import onnxruntime

    session: Any = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    first = first_chunk(network, features)
    named = {name: value.numpy() for name, value in zip(INPUTS, first, strict=True)}
    found = []
    for start in range(0, len(features) - network.window + 1, network.shift):
        named["audio_signal"] = features[start : start + network.window].T[None].numpy()
        frames, _, *caches = session.run(None, named)
        named.update(zip((CHANNEL, TIME, KNOWN), caches, strict=True))
        found.append(frames[0].T)
    return torch.from_numpy(np.concatenate(found))
