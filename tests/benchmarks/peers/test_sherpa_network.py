from typing import Any

import pytest
import torch
from tiny_models import make_tiny_model
from torch import Tensor

from benchmarks.peers.sherpa_export import first_chunk
from benchmarks.peers.sherpa_network import NotExportable, WenetCtcChunk
from earshot.models.u2.u2 import U2Model

CHUNK, LEFT_CHUNKS = 3, 2
CACHED = CHUNK * LEFT_CHUNKS


def chunks_of_peer(model: U2Model, windows: list[Tensor]) -> list[Tensor]:
    """As the peer feeds its network: caches are full, and a mask grows over them."""
    network = WenetCtcChunk(model, CHUNK).eval()
    _, offset, required, att, cnn, _ = first_chunk(model, CHUNK, LEFT_CHUNKS)
    found = []
    for index, window in enumerate(windows):
        empty = max(CACHED - index * CHUNK, 0)
        seen = (torch.arange(CACHED + CHUNK) >= empty)[None, None]
        log_probs, att, cnn = network(window, offset + index * CHUNK, required, att, cnn, seen)
        found.append(log_probs)
    return found


def chunks_of_ours(model: U2Model, windows: list[Tensor]) -> list[Tensor]:
    att = cnn = torch.zeros(0, 0, 0, 0)
    found = []
    for index, window in enumerate(windows):
        encoded, att, cnn = model.encoder.forward_chunk(
            window, CACHED + index * CHUNK, CACHED, att, cnn
        )
        found.append(model.ctc_log_probs(encoded))
    return found


@pytest.mark.parametrize(
    "encoder",
    [
        {"positions": "rel_pos", "cnn_module_norm": "batch_norm"},
        {"positions": "no_pos", "input_layer": "conv1d6", "block_norm": False},
    ],
)
def test_the_network_of_the_peer_says_what_ours_says_in_every_chunk(encoder: Any) -> None:
    model = make_tiny_model(**encoder)
    window = first_chunk(model, CHUNK, LEFT_CHUNKS)[0]
    windows = [torch.rand_like(window) for _ in range(5)]
    with torch.inference_mode():
        found, expected = chunks_of_peer(model, windows), chunks_of_ours(model, windows)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "encoder", [{"kind": "transformer", "positions": "no_pos"}, {"causal": False}]
)
def test_a_network_that_the_peer_does_not_have_is_refused(encoder: Any) -> None:
    with pytest.raises(NotExportable):
        WenetCtcChunk(make_tiny_model(**encoder), CHUNK)
