"""A factored network streams what it hears of whole recordings, and keeps its factors apart."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from earshot.models.errors import ConfigError
from earshot.models.layers.tdnnf import FactoredLayer
from earshot.models.tdnnf_config import TdnnfConfig
from earshot.models.u2.tdnnf_encoder import TdnnfEncoder

CONFIG = TdnnfConfig(
    input_dim=8, output_size=6, hidden_size=24, bottleneck=5, fast_layers=2, slow_layers=3
)
CHUNK = 4
TOLERANCE = {"rtol": 0.0, "atol": 1e-5}


@pytest.fixture(scope="module")
def encoder() -> TdnnfEncoder:
    """One whose norms have seen something, in evaluation mode."""
    torch.manual_seed(3)
    encoder = TdnnfEncoder(CONFIG)
    with torch.no_grad():
        encoder(2.0 * torch.randn(2, 90, 8) + 1.0, torch.tensor([90, 90]))
    return encoder.eval().requires_grad_(False)


def whole(encoder: TdnnfEncoder, features: Tensor) -> Tensor:
    encoded, lengths = encoder(features[None], torch.tensor([len(features)]))
    assert lengths.tolist() == [encoded.size(1)]
    return encoded[0]


class Streams:
    """Recordings that are heard chunk by chunk, by slots of one state."""

    def __init__(self, encoder: TdnnfEncoder, features: list[Tensor]) -> None:
        self.encoder = encoder
        self.features = features
        self.chunks = [0] * len(features)
        self.heard: list[list[Tensor]] = [[] for _ in features]
        self.state = encoder.initial_state(len(features), cache_frames=7)

    def advance(self, *slots: int) -> None:
        rate, context = self.encoder.subsampling_rate, self.encoder.right_context
        size = (CHUNK - 1) * rate + context + 1
        feats, lengths = torch.zeros(len(slots), size, 8), []
        for row, slot in enumerate(slots):
            start = self.chunks[slot] * CHUNK * rate
            window = self.features[slot][start : start + size]
            feats[row, : len(window)] = window
            lengths.append(max(0, (len(window) - context - 1) // rate + 1))
        index = torch.tensor(slots)
        encoded, update = self.encoder.forward_lanes(
            feats, torch.tensor(lengths), self.state.gather(index, CHUNK)
        )
        self.state.scatter(index, update)
        for row, slot in enumerate(slots):
            self.heard[slot].append(encoded[row, : lengths[row]])
            self.chunks[slot] += 1

    def text(self, slot: int) -> Tensor:
        return torch.cat(self.heard[slot])


def test_a_frame_sees_as_far_to_both_sides_as_the_layers_say(encoder: TdnnfEncoder) -> None:
    features = 0.3 * torch.randn(80, 8)
    plain = whole(encoder, features)
    moved = [
        (whole(encoder, features + 1.0 * (torch.arange(80) == place)[:, None]) - plain)[8].abs()
        for place in range(80)
    ]
    seen = [place for place, change in enumerate(moved) if change.max() > 1e-6]
    context = encoder.right_context
    assert context == 1 + CONFIG.fast_layers + 3 * CONFIG.slow_layers
    assert (seen[0], seen[-1]) == (24 - context, 24 + context)


def test_streams_that_come_and_go_hear_what_each_hears_alone(encoder: TdnnfEncoder) -> None:
    features = [torch.randn(length, 8) for length in (70, 100, 41)]
    streams = Streams(encoder, features)
    for slots in ((0,), (0, 1), (1, 2), (2, 0), (1, 2), (0, 1), (0, 1), (1,), (0, 1), (1,)):
        streams.advance(*slots)
    for slot, rows in enumerate(features):
        expected = whole(encoder, rows)
        torch.testing.assert_close(streams.text(slot), expected, **TOLERANCE)


def test_a_lane_that_stands_still_keeps_its_state(encoder: TdnnfEncoder) -> None:
    streams = Streams(encoder, [torch.randn(60, 8)])
    streams.advance(0)
    before = streams.state.gather(torch.tensor([0]), CHUNK)
    feats = torch.randn(1, (CHUNK - 1) * 3 + encoder.right_context + 1, 8)
    _, after = encoder.forward_lanes(feats, torch.tensor([0]), before)
    assert torch.equal(after.cnn_cache, before.cnn_cache)


def test_a_stream_that_begins_with_nothing_has_not_begun(encoder: TdnnfEncoder) -> None:
    state = encoder.initial_state(1, cache_frames=7)
    feats = torch.randn(1, (CHUNK - 1) * 3 + encoder.right_context + 1, 8)
    context = state.gather(torch.tensor([0]), CHUNK)
    _, after = encoder.forward_lanes(feats, torch.tensor([0]), context)
    assert not after.cnn_cache.any()


def test_digital_silence_is_no_louder_an_event_than_a_pause(encoder: TdnnfEncoder) -> None:
    silent, quiet = torch.full((60, 8), -50.0), torch.full((60, 8), -3.0)
    assert torch.equal(whole(encoder, silent), whole(encoder, quiet))


def test_chunks_do_not_change_what_a_recording_says(encoder: TdnnfEncoder) -> None:
    features = torch.randn(1, 60, 8)
    lengths = torch.tensor([60])
    assert torch.equal(encoder(features, lengths)[0], encoder(features, lengths, 3, 1)[0])


def test_the_thin_factor_is_drawn_to_orthonormal_rows() -> None:
    torch.manual_seed(1)
    layer = FactoredLayer(size=24, bottleneck=5, bypass_scale=0.66, dropout=0.0)
    for _ in range(200):
        layer.constrain()
    rows = torch.cat(layer.linear.weight.chunk(2, dim=0), dim=1)
    product = (rows @ rows.t()).detach()
    scale = product.diagonal().mean()
    torch.testing.assert_close(product / scale, torch.eye(5), rtol=0.0, atol=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [{"slow_layers": 0}, {"hidden_size": 0}, {"bottleneck": 1.5}, {"output_size": 7},
     {"bypass_scale": 2.0}, {"kind": "tdnn"}],
)  # fmt: skip
def test_a_network_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        TdnnfConfig(**wrong)
