"""Windows over streams, against the encoder over the same stretches of sound."""

from __future__ import annotations

from collections import defaultdict

import pytest
import torch
from random_nemo import babble, random_nemo
from torch import Tensor

from earshot.models.fastconformer.model import FastConformerModel
from earshot.streaming.fastconformer.encode_step import EncodeStep
from earshot.streaming.fastconformer.window_hearing import FILE, LIVE, WindowPlan
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

KINDS = {"windows, ctc": 80, "windows, rnnt and ctc": 40}
"""Milliseconds of a frame."""
CLIPS = [babble(seconds, seed) for seconds, seed in ((31.37, 3), (17.0, 4), (0.5, 5))]
QUICK = EndpointConfig(silence_ms=300, max_utterance_ms=2000)


@pytest.fixture
def encoded(monkeypatch) -> dict[int, list[Tensor]]:
    """All that is encoded, by slots."""
    found, whole = defaultdict(list), EncodeStep.__call__

    def noting(self, lanes) -> None:
        whole(self, lanes)
        for lane in lanes:
            if lane.cut.window:
                found[lane.stream.slot].append(lane.encoded)

    monkeypatch.setattr(EncodeStep, "__call__", noting)
    return found


@torch.inference_mode()
def in_windows(model: FastConformerModel, clip, plan: WindowPlan, frame_ms: int) -> Tensor:
    """Encoder frames of each chunk with what lies around it, as an utterance of its own."""
    features = model.features(torch.from_numpy(clip))
    rate = frame_ms // 10
    left, chunk, right = (int(seconds * 1000 / frame_ms) for seconds in vars(plan).values())
    frames, found = -(-len(features) // rate), []
    for first in range(0, frames, chunk):
        start, stop = max(first - left, 0), first + chunk + right - 1
        if stop * rate >= len(features):  # the rest of the clip is one window
            chunk = frames - first
        window = features[start * rate : stop * rate][None]
        rows, _ = model.encoder(window, torch.tensor([window.size(1)]))
        found.append(rows[0, first - start :][:chunk])
        if stop * rate >= len(features):
            break
    return torch.cat(found)


@pytest.mark.parametrize(
    ("priority", "plan"), [(StreamPriority.LIVE, LIVE), (StreamPriority.FILE, FILE)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_each_chunk_is_heard_with_what_lies_around_it(
    make_engine, together, encoded, kind, priority, plan
) -> None:
    loaded = random_nemo(kind)
    config = StreamConfig(endpoint=QUICK, interim_results=False)
    together(make_engine(loaded, max_streams=3, max_backlog_s=60), CLIPS, [config] * 3, priority)
    for slot, clip in enumerate(CLIPS):
        expected = in_windows(loaded.model, clip, plan, KINDS[kind])
        torch.testing.assert_close(torch.cat(encoded[slot]), expected, atol=1e-3, rtol=1e-3)
