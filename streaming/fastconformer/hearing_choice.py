"""The way to hear streams that an encoder was trained for."""

from __future__ import annotations

from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.native.precision import Precision
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.fastconformer.cached_hearing import CachedHearing, cached_contexts
from earshot.streaming.fastconformer.hearing import Hearing
from earshot.streaming.fastconformer.window_hearing import WindowHearing


def build_hearing(
    encoder: FastConformerEncoder,
    feature_ms: float,
    chunk_size: int | None,
    slots: int,
    precision: Precision = "float32",
) -> Hearing:
    """Chunks with a cache where the encoder was trained in some, else windows.

    chunk_size: of the default, in encoder frames. precision: of native layers. Raises
    InvalidEngineConfig for a chunk that was not trained.
    """
    contexts = cached_contexts(encoder.config)
    if not contexts:
        if chunk_size is not None:
            raise InvalidEngineConfig("chunk_size: this model hears in windows of its own")
        return WindowHearing(encoder, feature_ms, precision)
    sizes = [context.right + 1 for context in contexts]
    if chunk_size is not None and chunk_size not in sizes:
        known = ", ".join(map(str, sorted(sizes)))
        raise InvalidEngineConfig(f"chunk_size is {chunk_size}, the model was trained in: {known}")
    first = 0 if chunk_size is None else sizes.index(chunk_size)
    ordered = [contexts[first], *contexts[:first], *contexts[first + 1 :]]
    return CachedHearing(encoder, ordered, feature_ms, slots, precision)
