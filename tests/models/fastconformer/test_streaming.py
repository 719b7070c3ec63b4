"""Streams, chunk by chunk, against whole utterances."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_golden import GoldenReader
from torch import Tensor
from torch.nn import functional

from earshot.models.errors import NotStreamable
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.streaming import ENDLESS, StreamingEncoder

TOLERANCE = 1e-5
CONTEXTS = (AttentionContext(6, 2), AttentionContext(6, 0), AttentionContext(0, 1))
CONFIG = FastConformerConfig(
    features_size=20,
    size=16,
    layers=3,
    heads=2,
    feed_forward_size=24,
    stem_channels=6,
    causal_stem=True,
    kernel=4,
    conv_norm="layer_norm",
    causal_convolution=True,
    normalise="none",
    contexts=CONTEXTS,
    context_style="chunked_limited",
)


def make_encoder(config: FastConformerConfig = CONFIG) -> FastConformerEncoder:
    torch.manual_seed(3)
    encoder = FastConformerEncoder(config).eval().requires_grad_(False)
    for parameter in encoder.parameters():  # zeros, as biases begin, hide mistakes
        parameter.normal_(std=0.4)
    return encoder


ENCODER = make_encoder()


class Stream:
    """One stream in a slot: features (T, F), and what came out of them so far."""

    def __init__(self, features: Tensor, slot: int) -> None:
        self.features, self.slot = features, slot
        self.encoded: list[Tensor] = []

    def wants(self, step: StreamingEncoder) -> bool:
        return sum(map(len, self.encoded)) < step.encoder.encoded_length(len(self.features))

    def window(self, step: StreamingEncoder) -> Tensor:
        """Features of the next chunk; NaN where there are none, which nobody may hear."""
        rate, first = step.encoder.config.subsampling_factor, sum(map(len, self.encoded))
        before, after = step.window_before, step.window
        padded = functional.pad(self.features, (0, 0, before, after), value=torch.nan)
        return padded[rate * first :][: step.window]

    def length(self, step: StreamingEncoder) -> int:
        """Feature frames, as soon as the window holds the last."""
        rate, first = step.encoder.config.subsampling_factor, sum(map(len, self.encoded))
        stop = rate * first - step.window_before + step.window
        return len(self.features) if stop >= len(self.features) else ENDLESS


def run(step: StreamingEncoder, streams: list[Stream], state: object = None) -> None:
    """Chunks of all streams in turn, in as large a company as there is."""
    state = state or step.start(1 + max(stream.slot for stream in streams))
    while now := [stream for stream in streams if stream.wants(step)]:
        slots = torch.tensor([stream.slot for stream in now])
        lengths = torch.tensor([stream.length(step) for stream in now])
        windows = torch.stack([stream.window(step) for stream in now])
        found, frames = step.step(state, slots, windows, lengths)
        for stream, row, count in zip(now, found, frames.tolist(), strict=True):
            stream.encoded.append(row[:count])


def whole(encoder: FastConformerEncoder, features: Tensor, context: AttentionContext) -> Tensor:
    encoded, lengths = encoder(features[None], torch.tensor([len(features)]), context)
    return encoded[0, : int(lengths)]


@pytest.mark.parametrize("context", CONTEXTS, ids=str)
@settings(max_examples=30)
@given(st.lists(st.integers(1, 150), min_size=1, max_size=4))
def test_streams_in_company_hear_what_whole_utterances_do(
    context: AttentionContext, lengths: list[int]
) -> None:
    step = StreamingEncoder(ENCODER, context)
    streams = [Stream(torch.randn(length, 20), slot) for slot, length in enumerate(lengths)]
    run(step, streams)
    for stream in streams:
        expected = whole(ENCODER, stream.features, context)
        found = torch.cat(stream.encoded)
        torch.testing.assert_close(found, expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize(
    "change",
    [
        {"subsampling": "striding", "subsampling_factor": 4},
        {"conv_norm": "batch_norm"},
        {"shared_positions": True, "use_bias": False, "scale_input": False},
    ],
    ids=str,
)
def test_every_kind_of_encoder_streams(change: dict[str, object]) -> None:
    encoder = make_encoder(replace(CONFIG, **change))
    stream = Stream(torch.randn(97, 20), 0)
    run(StreamingEncoder(encoder, CONTEXTS[0]), [stream])
    expected = whole(encoder, stream.features, CONTEXTS[0])
    torch.testing.assert_close(torch.cat(stream.encoded), expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("context", CONTEXTS, ids=str)
def test_rings_may_hold_more_than_is_heard(context: AttentionContext) -> None:
    step = StreamingEncoder(ENCODER, context, capacity=9)
    stream = Stream(torch.randn(140, 20), 0)
    run(step, [stream])
    expected = whole(ENCODER, stream.features, context)
    torch.testing.assert_close(torch.cat(stream.encoded), expected, atol=TOLERANCE, rtol=TOLERANCE)


def test_what_was_heard_and_not_kept_changes_nothing() -> None:
    step = StreamingEncoder(ENCODER, CONTEXTS[0])
    state, stream = step.start(1), Stream(torch.randn(90, 20), 0)
    arguments = torch.tensor([0]), stream.window(step)[None], torch.tensor([ENDLESS])
    heard = step.hear(state, *arguments)
    assert not state.offset.any()
    again, _ = step.step(state, *arguments)
    assert torch.equal(heard.encoded, again)


def test_a_slot_that_was_reset_remembers_nothing() -> None:
    step = StreamingEncoder(ENCODER, CONTEXTS[0])
    state, features = step.start(2), torch.randn(90, 20)
    run(step, [Stream(torch.full((70, 20), torch.nan), 1)], state)
    state.reset(torch.tensor([1]))
    stream = Stream(features, 1)
    run(step, [stream], state)
    expected = whole(ENCODER, features, CONTEXTS[0])
    torch.testing.assert_close(torch.cat(stream.encoded), expected, atol=TOLERANCE, rtol=TOLERANCE)


def test_streams_that_do_not_step_stay_where_they_are() -> None:
    step = StreamingEncoder(ENCODER, CONTEXTS[0])
    state = step.start(2)
    run(step, [Stream(torch.randn(90, 20), 0)], state)
    assert state.offset[1] == 0
    assert not state.att_cache[1].any()
    assert not state.cnn_cache[1].any()


@pytest.mark.parametrize(
    ("change", "context"),
    [
        ({"context_style": "regular"}, CONTEXTS[0]),
        ({"causal_stem": False}, CONTEXTS[0]),
        ({"causal_convolution": False, "kernel": 5}, CONTEXTS[0]),
        ({"normalise": "per_feature"}, CONTEXTS[0]),
        ({}, AttentionContext(-1, 2)),
    ],
    ids=str,
)
def test_an_encoder_that_hears_the_future_has_no_step(
    change: dict[str, object], context: AttentionContext
) -> None:
    with pytest.raises(NotStreamable):
        StreamingEncoder(make_encoder(replace(CONFIG, **change)), context)


@pytest.mark.parametrize("right", [6, 1, 0])
def test_nemos_streams_hear_what_its_whole_utterances_do(
    nemo_golden: GoldenReader, right: int
) -> None:
    context = AttentionContext(14, right)
    golden = nemo_golden("rnnt_streaming")
    clips = [golden.model.features(clip) for clip in golden.audio]
    streams = [Stream(features, slot) for slot, features in enumerate(clips)]
    run(StreamingEncoder(golden.model.encoder, context), streams)
    for number, stream in enumerate(streams):
        found = torch.cat(stream.encoded)
        wanted = golden.arrays[f"encoded_ctx_14_{right}"][number, :, : len(found)].T
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=0)
