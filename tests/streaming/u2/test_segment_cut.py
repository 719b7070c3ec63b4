"""A segment that grew too long, cut where a first try fails on its way."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tone_transducer import KINDS, with_transducer

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine.engine import Engine
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream_config import EndpointConfig, StreamConfig
from earshot.streaming.u2.segment_cut import SegmentCut

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


@pytest.mark.parametrize(("search", "expected"), [("transducer", 6), ("ctc", 4)])
def test_a_label_that_ctc_hears_later_is_said_before_the_cut(search: str, expected: int) -> None:
    units = torch.tensor([0, 0, 0, 0, 2, 2, 0, 3, 0, 0])
    heads = SimpleNamespace(
        blank_id=0, ctc_log_probs=lambda encoded: torch.eye(4)[units[: len(encoded)]]
    )
    best = SimpleNamespace(hypothesis=SimpleNamespace(tokens=(2, 3), frames=(1, 7)))
    searches = SimpleNamespace(boundary=lambda *_: 4, best=lambda streams: [best])
    stream = SimpleNamespace(
        search=search,
        segment=SimpleNamespace(frames=10, memory=lambda: torch.zeros(10, 1)),
        settings=SimpleNamespace(chunking=SimpleNamespace(frame_ms=40.0)),
    )
    cut = SegmentCut(searches, heads, early=["transducer"])  # type: ignore[arg-type]
    assert cut.place(stream, Endpoint("max_utterance", 10, 0)) == expected  # type: ignore[arg-type]
