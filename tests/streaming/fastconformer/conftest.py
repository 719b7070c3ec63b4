"""Streams in company, and the tokens that came of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice

import numpy as np
import pytest

from earshot.streaming.engine.engine import Engine
from earshot.streaming.events import Closed
from earshot.streaming.fastconformer.recognizer import FastConformerRecognizer
from earshot.streaming.stream_config import StreamConfig, StreamPriority

ODD_SIZES = (1, 2999, 160, 777, 4001, 33)
"""Samples of pushes."""


def pieces(samples: np.ndarray, offset: int) -> Iterator[np.ndarray]:
    """Samples in pushes of odd sizes."""
    start = 0
    for size in islice(cycle(ODD_SIZES), offset, None):
        if start >= len(samples):
            return
        yield samples[start : start + size]
        start += size


@pytest.fixture(scope="session")
def together(sounds) -> Callable[..., list]:
    """Hears clips in company, each stream by its own config; returns their listeners."""

    def hear(
        engine: Engine,
        clips: Sequence[np.ndarray],
        configs: Sequence[StreamConfig],
        priority: StreamPriority = StreamPriority.LIVE,
    ) -> list:
        listeners = [sounds.Listener() for _ in clips]
        opened = [engine.open(*each, priority) for each in zip(configs, listeners, strict=True)]
        going = [(stream, pieces(clip, number)) for number, (stream, clip) in
                 enumerate(zip(opened, clips, strict=True))]  # fmt: skip
        while going:
            going = [(stream, left) for stream, left in going if pushed(stream, left)]
        for listener in listeners:
            assert isinstance(last := listener.wait_for_last(), Closed), last
        return listeners

    return hear


def pushed(stream, left: Iterator[np.ndarray]) -> bool:
    """Push the next piece, or finish; whether there was one."""
    if (piece := next(left, None)) is None:
        stream.finish()
        return False
    stream.push(piece)
    return True


@pytest.fixture
def heard_tokens(monkeypatch) -> dict[int, list[int]]:
    """Tokens of all finals by the stream's slot."""
    found: dict[int, list[int]] = defaultdict(list)
    finish = FastConformerRecognizer.finish

    def noting(self, endings, beat) -> None:
        finish(self, endings, beat)
        for ending in endings:
            found[ending.stream.slot].extend(ending.scored[0].hypothesis.tokens)

    monkeypatch.setattr(FastConformerRecognizer, "finish", noting)
    return found
