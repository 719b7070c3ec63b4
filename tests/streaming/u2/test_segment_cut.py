"""A segment that grew too long, cut where a first try fails on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tone_transducer import KINDS, with_transducer

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine.engine import Engine
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

LASTING = "五"


def long_clip(sounds: Any) -> np.ndarray:
    """Digits, then one that sounds on over the place where the segment is cut."""
    parts = (
        sounds.speech("一二三四"), sounds.noise(0.7), sounds.tone(LASTING, 1.5), sounds.noise(0.5),
        sounds.speech("六七"),
    )  # fmt: skip
    return np.concatenate(parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "mode", ["transducer_greedy_search", "transducer_beam_search", "ctc_greedy_search"]
)
def test_a_cut_that_failed_on_its_way_is_made_where_it_was(
    make_engine: Callable[..., Engine],
    tone_model: LoadedModel,
    sounds: Any,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    mode: str,
) -> None:
    engine = make_engine(with_transducer(tone_model, kind), chunk_size=8, num_left_chunks=2)
    endpoint = EndpointConfig(silence_ms=None, max_utterance_ms=3000)
    asked, clip = StreamConfig(mode=mode, endpoint=endpoint), long_clip(sounds)
    plain = sounds.transcribe(engine, clip, asked)
    failures, rewind = iter([DecodingFailed("once")]), SearchSet.rewind

    def failing(self: SearchSet, stream: Any) -> None:
        if stream.segment.frames and (error := next(failures, None)):
            raise error
        rewind(self, stream)

    monkeypatch.setattr(SearchSet, "rewind", failing)
    again = sounds.transcribe(engine, clip, asked)
    assert next(failures, None) is None
    assert [each.alternatives for each in again.finals] == [
        each.alternatives for each in plain.finals
    ]
    assert plain.finals[0].cause == "max_utterance"
