"""Stages of an encoder, Whisper's stem and positions, against Whisper's own way written out."""

import pytest
import torch
from tiny_models import WHISPER, make_tiny_model
from torch import Tensor
from torch.nn import functional

from earshot.models.layers.positional import whisper_positions
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.stages import encoder_stages

POOLS = (None, 0, 1, 2)


def encoder_of(pool: int | None, **changes: object) -> Encoder:
    return make_tiny_model(**{**WHISPER, "pool_after_block": pool, **changes}).encoder


def written_out(encoder: Encoder, feats: Tensor, pool: int | None) -> Tensor:
    """The encoder's frames by Whisper's code, with a mean of two frames after block `pool`."""
    one, two = encoder.embed.conv1, encoder.embed.conv2
    x = encoder.global_cmvn(feats).mT
    x = functional.gelu(functional.conv1d(x, one.weight, one.bias, padding=1))
    x = functional.gelu(functional.conv1d(x, two.weight, two.bias, stride=2, padding=1)).mT
    x = x[:, : (feats.size(1) - 1) // (2 if pool is None else 4) * (1 if pool is None else 2)]
    x = x + whisper_positions(torch.arange(x.size(1)), x.size(2))
    for number, layer in enumerate(encoder.layers):
        if number == pool:
            x = (x[:, 0::2] + x[:, 1::2]) / 2
        normed = layer.norm1(x)
        x = x + layer.self_attn(normed, normed, None)
        x = x + layer.feed_forward(layer.norm2(x))
    if pool == len(encoder.layers):
        x = (x[:, 0::2] + x[:, 1::2]) / 2
    x = encoder.after_norm(x)
    return x if encoder.narrow is None else encoder.narrow(x)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("frames", [60, 61, 62, 63])
@torch.no_grad()
def test_whole_utterances_are_whispers(pool, frames):
    encoder, feats = encoder_of(pool, narrow=14), torch.randn(2, frames, 80)
    found, lengths = encoder(feats, torch.tensor([frames, frames]))
    expected = written_out(encoder, feats, pool)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert lengths.tolist() == [expected.size(1)] * 2


@pytest.mark.parametrize("pool", POOLS)
def test_rate_and_right_context_follow_the_pooling(pool):
    encoder = encoder_of(pool)
    expected = (2, 2) if pool is None else (4, 4)
    assert (encoder.subsampling_rate, encoder.right_context) == expected


@torch.no_grad()
def test_a_last_frame_without_a_second_is_not_seen():
    """Else a whole utterance would hear what no stream does."""
    encoder = encoder_of(1)
    feats = torch.randn(1, 63, 80)  # 31 frames of 20 ms
    found, _ = encoder(feats, torch.tensor([63]))
    feats[:, 61:] += 1.0
    again, _ = encoder(feats, torch.tensor([63]))
    assert torch.equal(found, again)
    feats[:, 60:] += 1.0
    assert not torch.allclose(found, encoder(feats, torch.tensor([63]))[0])


@pytest.mark.parametrize("pool", POOLS)
@torch.no_grad()
def test_a_frame_sees_what_lies_before_its_window(pool):
    """The stem's past must come from the chunk before, not be zero."""
    encoder = encoder_of(pool)
    rate, context = encoder.subsampling_rate, encoder.right_context
    empty = torch.zeros(0, 0, 0, 0)
    feats = torch.randn(1, 8 * rate + context + 1, 80)
    window = 3 * rate + context + 1
    _, att, cnn = encoder.forward_chunk(feats[:, :window], 0, 8, empty, empty)
    later = feats[:, 4 * rate :][:, :window]
    followed, _, _ = encoder.forward_chunk(later, 4, 8, att, cnn)
    forgot, _, _ = encoder.forward_chunk(later, 4, 8, att, torch.zeros_like(cnn))
    assert cnn.shape == (1, 1, 80, 2)
    assert not torch.allclose(followed[:, 0], forgot[:, 0])


@torch.no_grad()
def test_positions_start_again_with_a_segment():
    encoder = encoder_of(0)
    feats, window = torch.randn(1, 60, 80), 4 * 3 + 5
    state, slots, lengths = encoder.initial_state(1, 8), torch.tensor([0]), torch.tensor([4])

    def step(start: int) -> Tensor:
        frames, update = encoder.forward_lanes(
            feats[:, start : start + window], lengths, state.gather(slots, 4)
        )
        state.scatter(slots, update)
        return frames

    first, second = step(0), step(16)
    state.reset(slots)
    torch.testing.assert_close(step(0), first, rtol=0, atol=0)
    state.reset(slots)
    assert not torch.allclose(step(16), second)


@torch.no_grad()
def test_wide_frames_are_those_before_the_narrow_layer():
    encoder, feats, lengths = encoder_of(1, narrow=6), torch.randn(1, 60, 80), torch.tensor([60])
    wide, _ = encoder.forward_wide(feats, lengths, 4, 2)
    narrow, _ = encoder(feats, lengths, 4, 2)
    assert (wide.size(2), narrow.size(2), encoder.output_size) == (16, 6, 6)
    torch.testing.assert_close(encoder.narrow(wide), narrow, rtol=0, atol=0)


def test_early_blocks_have_twice_the_rows(tiny_models):
    shapes = {pool: encoder_of(pool).initial_state(3, 10).att_cache.shape for pool in POOLS}
    rows = {pool: shape[1] for pool, shape in shapes.items()}
    assert rows == {None: 2, 0: 2, 1: 3, 2: 4}
    assert {shape[3] for shape in shapes.values()} == {11}


def test_stages_share_out_the_rows():
    stages = encoder_stages(encoder_of(1).config)
    assert [(stage.layers, stage.rate, stage.pools) for stage in stages] == [
        (range(1), 2, False),
        (range(1, 2), 1, True),
    ]
    assert (stages[0].rows(0), stages[1].rows(1)) == (slice(0, 2), slice(2, 3))
