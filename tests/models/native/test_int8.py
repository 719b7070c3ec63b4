"""Networks in int8: what was stored as int8 loses little more than the order of float sums does.

With rows of 8 bits, in w8a8, it loses as much as inputs lose in bfloat16, or some more.
"""

import pytest
import torch
from int8_networks import APART, assert_near, stored
from tiny_models import make_tiny_model
from torch import Tensor, nn

from earshot.models.layers.subsampling import Conv1dStem, build_stem
from earshot.models.native.ends import NativeConv1dStem, NativeCtcHead
from earshot.models.native.precision import Precision
from earshot.models.native.weights import processors
from earshot.models.neural_lm.network import NeuralLm, NeuralLmConfig
from earshot.models.neural_lm.sentence_trees import sentence_trees
from earshot.models.token_tree import TokenTree
from earshot.models.u2.conformer_step import ConformerStep
from earshot.models.u2.decoder_trees import decoder_trees

LANES, FRAMES, CAPACITY = 16, 6, 12
END = 1
TREES = [TokenTree.of([[2, 3, 4, 2, 5], [2, 3, 6, 7, 8, 9], [5, 4, 3]], END)]
SIZES = {"output_size": 36, "linear_units": 50, "cnn_module_kernel": 5}


@pytest.fixture(params=processors())
def processor(request) -> str:
    return request.param


@pytest.fixture(params=APART)
def precision(request) -> Precision:
    return request.param


def test_a_head_loses_little(processor, precision):
    torch.manual_seed(1)
    head, encoded = stored(nn.Linear(37, 21)), torch.randn(2, 30, 37)
    assert isinstance(head, nn.Linear)

    def found(own: Precision) -> Tensor:
        return NativeCtcHead(head, processor=processor, precision=own)(encoded)

    assert_near(precision, found)


def test_a_stem_loses_little(processor, precision):
    torch.manual_seed(2)
    stem, features = stored(build_stem("conv1d6", 80, 36)), torch.randn(3, 67, 80)
    assert isinstance(stem, Conv1dStem)

    def found(own: Precision) -> Tensor:
        return NativeConv1dStem(stem, processor, own)(features)

    assert_near(precision, found)


@torch.no_grad()
def test_a_step_loses_little_and_a_lane_is_the_same_in_any_company(
    processor, precision, monkeypatch
):
    torch.manual_seed(3)
    encoder = make_tiny_model(**SIZES).encoder
    stored(encoder)
    monkeypatch.setattr(encoder, "heard", lambda rows, _: rows)
    monkeypatch.setattr(encoder, "embed_heard", lambda rows, *_: rows)
    state, slots = encoder.initial_state(LANES, CAPACITY), torch.arange(LANES)
    state.att_cache.normal_()
    state.cache_length[:] = state.offset[:] = CAPACITY
    rows, lengths = torch.randn(LANES, FRAMES, encoder.output_size), torch.full((LANES,), FRAMES)

    def found(own: Precision) -> Tensor:
        step = ConformerStep(encoder, processor, own)
        return step(rows, lengths, state, slots, CAPACITY)[0]

    assert_near(precision, found)
    together = found(precision)
    step = ConformerStep(encoder, processor, precision)
    for lane in range(LANES):
        own = slice(lane, lane + 1)
        alone, _ = step(rows[own], lengths[own], state, slots[own], CAPACITY)
        assert torch.equal(alone[0], together[lane])


@torch.no_grad()
def test_decoders_and_language_models_lose_little(precision):
    torch.manual_seed(4)
    decoder = make_tiny_model().left_decoder
    network = NeuralLm(NeuralLmConfig(vocab_size=11, size=36, heads=3, blocks=2, feed_forward=50))
    stored(decoder), stored(network)
    memory = torch.randn(1, 9, decoder.size), torch.tensor([9])

    def decoded(own: Precision) -> Tensor:
        return torch.tensor(decoder_trees(decoder, own)(TREES, END, *memory)[0].nodes[1:])

    def read(own: Precision) -> Tensor:
        return torch.tensor(sentence_trees(network, own)(TREES, END)[0].nodes[1:])

    for found in (decoded, read):
        assert_near(precision, found)
