"""Streams that are pushed in turn, so that they share steps."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from earshot.streaming.engine.engine import Engine
from earshot.streaming.stream_config import StreamConfig


def listeners_in_company(
    engine: Engine, sounds: Any, clips: Sequence[np.ndarray], config: StreamConfig
) -> list[Any]:
    """Listeners of all clips, each to its end. sounds: the fixture."""
    listeners = [sounds.Listener() for _ in clips]
    streams = [engine.open(config, listener) for listener in listeners]
    for start in range(0, max(map(len, clips)), 1000):
        for stream, samples in zip(streams, clips, strict=True):
            stream.push(samples[start : start + 1000])
    for stream in streams:
        stream.finish()
    for listener in listeners:
        listener.wait_for_last()
    return listeners
