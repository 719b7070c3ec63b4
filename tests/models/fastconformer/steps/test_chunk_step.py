"""Streams, chunk by chunk, against whole utterances: in torch and natively."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from chunked_streams import CONFIG, CONTEXTS, ENCODER, Stream, make_encoder, run, whole
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_golden import GoldenReader

from earshot.models.errors import NotStreamable
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.steps.chunk_step import ENDLESS

TOLERANCE = 1e-5


@pytest.mark.parametrize("context", CONTEXTS, ids=str)
@settings(max_examples=30)
@given(st.lists(st.integers(1, 150), min_size=1, max_size=4))
def test_streams_in_company_hear_what_whole_utterances_do(
    make_step, context: AttentionContext, lengths: list[int]
) -> None:
    step = make_step(ENCODER, context)
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
def test_every_kind_of_encoder_streams(make_step, change: dict[str, object]) -> None:
    encoder = make_encoder(replace(CONFIG, **change))
    stream = Stream(torch.randn(97, 20), 0)
    run(make_step(encoder, CONTEXTS[0]), [stream])
    expected = whole(encoder, stream.features, CONTEXTS[0])
    torch.testing.assert_close(torch.cat(stream.encoded), expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("context", CONTEXTS, ids=str)
def test_rings_may_hold_more_than_is_heard(make_step, context: AttentionContext) -> None:
    step = make_step(ENCODER, context, capacity=9)
    stream = Stream(torch.randn(140, 20), 0)
    run(step, [stream])
    expected = whole(ENCODER, stream.features, context)
    torch.testing.assert_close(torch.cat(stream.encoded), expected, atol=TOLERANCE, rtol=TOLERANCE)


def test_what_was_heard_and_not_kept_changes_nothing(make_step) -> None:
    step = make_step(ENCODER, CONTEXTS[0])
    state, stream = step.start(1), Stream(torch.randn(90, 20), 0)
    arguments = torch.tensor([0]), stream.window(step)[None], torch.tensor([ENDLESS])
    heard = step.hear(state, *arguments)
    assert not state.offset.any()
    again, _ = step.step(state, *arguments)
    assert torch.equal(heard.encoded, again)


def test_a_slot_that_was_reset_remembers_nothing(make_step) -> None:
    step = make_step(ENCODER, CONTEXTS[0])
    state, features = step.start(2), torch.randn(90, 20)
    run(step, [Stream(torch.full((70, 20), torch.nan), 1)], state)
    state.reset(torch.tensor([1]))
    stream = Stream(features, 1)
    run(step, [stream], state)
    expected = whole(ENCODER, features, CONTEXTS[0])
    torch.testing.assert_close(torch.cat(stream.encoded), expected, atol=TOLERANCE, rtol=TOLERANCE)


def test_streams_that_do_not_step_stay_where_they_are(make_step) -> None:
    step = make_step(ENCODER, CONTEXTS[0])
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
    make_step, change: dict[str, object], context: AttentionContext
) -> None:
    with pytest.raises(NotStreamable):
        make_step(make_encoder(replace(CONFIG, **change)), context)


@pytest.mark.parametrize("right", [6, 1, 0])
def test_nemos_streams_hear_what_its_whole_utterances_do(
    make_step, nemo_golden: GoldenReader, right: int
) -> None:
    context = AttentionContext(14, right)
    golden = nemo_golden("rnnt_streaming")
    clips = [golden.model.features(clip) for clip in golden.audio]
    streams = [Stream(features, slot) for slot, features in enumerate(clips)]
    run(make_step(golden.model.encoder, context), streams)
    for number, stream in enumerate(streams):
        found = torch.cat(stream.encoded)
        wanted = golden.arrays[f"encoded_ctx_14_{right}"][number, :, : len(found)].T
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=0)


def test_rings_that_hold_less_than_is_heard_are_refused(make_step) -> None:
    with pytest.raises(ValueError, match="rings of 5 frames do not hold 6"):
        make_step(ENCODER, CONTEXTS[0], capacity=5)
