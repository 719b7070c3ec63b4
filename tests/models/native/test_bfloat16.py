"""Networks in bfloat16: torch's numbers, where torch rounds what linear layers multiply."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from tiny_models import make_tiny_model
from torch import Tensor, nn
from torch.nn import functional

from earshot.models.layers.subsampling import Conv1dStem, build_stem
from earshot.models.native.ends import NativeConv1dStem, NativeCtcHead
from earshot.models.native.weights import processors
from earshot.models.neural_lm.network import NeuralLm, NeuralLmConfig
from earshot.models.neural_lm.sentence_trees import sentence_trees, torch_sentence_trees
from earshot.models.token_tree import TokenTree
from earshot.models.tree_scorer import TreeScorer
from earshot.models.u2.conformer_step import ConformerStep
from earshot.models.u2.decoder_trees import decoder_trees, torch_decoder_trees
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.slot_step import TorchSlotStep

LANES, FRAMES, CAPACITY = 3, 6, 12
END = 1
TREES = [TokenTree.of([[2, 3, 4, 2, 5], [2, 3, 6, 7, 8, 9], [5, 4, 3]], END)]
SIZES = {"output_size": 36, "linear_units": 50, "cnn_module_kernel": 5}


@pytest.fixture(params=processors())
def processor(request) -> str:
    return request.param


def rounded(tensor: Tensor) -> Tensor:
    return tensor.bfloat16().float()


@contextmanager
def rounding(*, convolutions: bool = False) -> Iterator[None]:
    """Inside, torch rounds weights and inputs of linear layers, or of convolutions as well."""
    linear, conv1d = functional.linear, functional.conv1d

    def rounded_linear(given, weight, bias=None):
        return linear(rounded(given), rounded(weight), bias)

    def rounded_conv1d(given, weight, *others):
        return conv1d(rounded(given), rounded(weight), *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functional, "linear", rounded_linear)
        if convolutions:
            patch.setattr(functional, "conv1d", rounded_conv1d)
        yield


def plain(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> Encoder:
    """An encoder that is given its blocks' input."""
    monkeypatch.setattr(encoder, "heard", lambda rows, _: rows)
    monkeypatch.setattr(encoder, "embed_heard", lambda rows, *_: rows)
    return encoder


def assert_rounded(found: Tensor, expected: Tensor, exact: Tensor) -> None:
    """Near what rounding gives, much nearer than to what is not rounded.

    Sums in another order may round the next layer's input to a neighbour, here and there.
    """
    assert (found - expected).abs().mean() < (found - exact).abs().mean() / 8


def test_a_head_rounds_weights_and_rows(processor, assert_same):
    torch.manual_seed(1)
    head = nn.Linear(37, 21).requires_grad_(False)
    encoded = torch.randn(2, 30, 37)
    found = NativeCtcHead(head, processor=processor, precision="bfloat16")(encoded)
    with rounding():
        assert_same(found, head(encoded).log_softmax(-1), rtol=1e-6)


def test_a_stem_rounds_weights_and_rows(processor):
    torch.manual_seed(2)
    stem = build_stem("conv1d6", 80, 36)
    assert isinstance(stem, Conv1dStem)
    stem.requires_grad_(False)
    features = torch.randn(LANES, 67, 80)
    found = NativeConv1dStem(stem, processor, "bfloat16")(features)
    with rounding(convolutions=True):
        expected = stem(features)
    assert_rounded(found, expected, stem(features))


@torch.no_grad()
@pytest.mark.parametrize("branches", [True, False])
def test_a_step_rounds_what_its_linear_layers_multiply(processor, branches, monkeypatch):
    torch.manual_seed(3)
    tiny = make_tiny_model(**SIZES, use_cnn_module=branches, macaron_style=branches)
    encoder = plain(tiny.encoder, monkeypatch)
    slots, lengths = torch.arange(LANES), torch.full((LANES,), FRAMES)
    state = encoder.initial_state(LANES, CAPACITY)
    state.att_cache.normal_()
    state.cache_length[:] = state.offset[:] = CAPACITY
    given = torch.randn(LANES, FRAMES, encoder.output_size), lengths, state, slots, CAPACITY
    found, update = ConformerStep(encoder, processor, "bfloat16")(*given)
    torchs = TorchSlotStep(encoder, FRAMES)
    exact, of_exact = torchs(*given)
    with rounding():
        expected, of_rounding = torchs(*given)
    assert_rounded(found, expected, exact)
    assert_rounded(update.att_columns, of_rounding.att_columns, of_exact.att_columns)


@torch.no_grad()
def test_a_lane_has_the_same_bits_alone_and_in_company(processor, monkeypatch):
    torch.manual_seed(5)
    encoder = plain(make_tiny_model(**SIZES).encoder, monkeypatch)
    lanes = 16
    step = ConformerStep(encoder, processor, "bfloat16")
    state, slots = encoder.initial_state(lanes, CAPACITY), torch.arange(lanes)
    state.att_cache.normal_()
    rows, lengths = torch.randn(lanes, FRAMES, encoder.output_size), slots % (FRAMES + 1)
    together, _ = step(rows, lengths, state, slots, CAPACITY)
    for lane in range(lanes):
        own = slice(lane, lane + 1)
        alone, _ = step(rows[own], lengths[own], state, slots[own], CAPACITY)
        assert torch.equal(alone[0], together[lane])


@torch.no_grad()
def test_decoders_round_what_linear_layers_multiply():
    torch.manual_seed(6)
    decoder = make_tiny_model().left_decoder
    memory = torch.randn(1, 9, decoder.size), torch.tensor([9])

    def found(scorer: TreeScorer) -> Tensor:
        return torch.tensor(scorer(TREES, END, *memory)[0].nodes[1:])

    exact = found(torch_decoder_trees(decoder))
    with rounding():
        expected = found(torch_decoder_trees(decoder))
    assert_rounded(found(decoder_trees(decoder, "bfloat16")), expected, exact)


@torch.no_grad()
def test_sentences_round_what_linear_layers_multiply():
    torch.manual_seed(7)
    network = NeuralLm(NeuralLmConfig(vocab_size=11, size=36, heads=3, blocks=2, feed_forward=50))

    def found(scorer: TreeScorer) -> Tensor:
        return torch.tensor(scorer(TREES, END)[0].nodes[1:])

    exact = found(torch_sentence_trees(network))
    with rounding():
        expected = found(torch_sentence_trees(network))
    assert_rounded(found(sentence_trees(network, "bfloat16")), expected, exact)
