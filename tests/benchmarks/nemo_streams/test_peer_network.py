"""The peer's networks say what ours say, chunk by chunk."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.nemo_streams.peer_check import first_chunk, whole_utterance
from benchmarks.nemo_streams.peer_network import PeerEncoder, PeerJoint, PeerPredictor
from earshot.models.errors import NotStreamable
from earshot.models.fastconformer.config import AttentionContext, FastConformerModelConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.model import FastConformerModel

CHUNKS = 10
MORE = (AttentionContext(8, 3), AttentionContext(8, 1), AttentionContext(8, 0))


def by_chunks(network: PeerEncoder, features: Tensor) -> Tensor:
    """Frames (T', D) as the peer asks for them, windows that move on by `shift`."""
    _, length, *caches = first_chunk(network, features)
    found = []
    for start in range(0, CHUNKS * network.shift, network.shift):
        window = features[start : start + network.window].T[None]
        frames, counts, *caches = network(window, length, *caches)
        assert counts.tolist() == [network.chunk]
        found.append(frames[0].T)
    return torch.cat(found)


@pytest.mark.parametrize("context", MORE, ids=str)
@pytest.mark.parametrize(
    "changes", [{}, {"conv_norm": "batch_norm", "use_bias": False, "scale_input": False}]
)
def test_chunks_of_the_peer_are_the_whole_utterance_without_its_first_frames(
    small_config: FastConformerModelConfig, context: AttentionContext, changes: dict[str, Any]
) -> None:
    torch.manual_seed(2)
    encoder = FastConformerEncoder(replace(small_config.encoder, **changes)).eval()
    network = PeerEncoder(encoder, context)
    features = torch.randn(network.window + network.shift * (CHUNKS - 1), 20)
    with torch.inference_mode():
        for parameter in encoder.parameters():
            parameter.normal_(std=0.4)
        found = by_chunks(network, features)
        expected = whole_utterance(encoder, context, features, network.extra)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_streams_at_different_places_share_a_call(small_model: FastConformerModel) -> None:
    network = PeerEncoder(small_model.encoder, MORE[0])
    features = torch.randn(2 * network.window, 20)
    with torch.inference_mode():
        first = first_chunk(network, features)
        later = (
            features[network.shift :][: network.window].T[None],
            first[1],
            *network(*first)[2:],
        )
        alone = network(*first), network(*later)
        together = network(*map(torch.cat, zip(first, later, strict=True)))
    for row, own in enumerate(alone):
        for found, expected in zip(together, own, strict=True):
            torch.testing.assert_close(found[row : row + 1], expected, rtol=1e-4, atol=1e-5)


def test_windows_are_those_of_nemo(small_model: FastConformerModel) -> None:
    network = PeerEncoder(small_model.encoder, MORE[0])
    assert (network.window, network.shift, network.extra) == (9 + 8 * 4, 8 * 4, 2)


def test_the_head_of_the_peer_is_ours(small_model: FastConformerModel) -> None:
    head = small_model.transducer
    assert head is not None
    frame, start = torch.randn(1, head.config.encoder_size), head.predictor.start(1)
    given = torch.tensor([[5]], dtype=torch.int32), torch.ones(1, dtype=torch.int32)
    with torch.inference_mode():
        said, _, hidden, cell = PeerPredictor(head)(*given, start.hidden, start.cell)
        found = PeerJoint(head)(frame.unsqueeze(2), said)
        projected, state = head.say(torch.tensor([5]), start)
        expected = torch.log_softmax(head.joint(head.hear(frame), projected), dim=-1)
    torch.testing.assert_close(found[:, 0, 0], expected)
    torch.testing.assert_close((hidden, cell), (state.hidden, state.cell))


def test_an_encoder_that_hears_what_is_yet_to_come_is_refused(
    small_config: FastConformerModelConfig,
) -> None:
    encoder = FastConformerEncoder(replace(small_config.encoder, causal_convolution=False))
    with pytest.raises(NotStreamable):
        PeerEncoder(encoder, MORE[0])
