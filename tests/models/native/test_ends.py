"""Stem and CTC heads run natively: torch's numbers, and a lane's own bits."""

import pytest
import torch
from tiny_models import make_tiny_model
from torch import nn

from earshot.models.layers.ctc import CtcHead
from earshot.models.layers.phone_head import PhoneHead
from earshot.models.layers.subsampling import Conv1dStem, build_stem
from earshot.models.layers.whisper_stem import WhisperStem
from earshot.models.native.ends import NativeConv1dStem, NativeCtcHead
from earshot.models.native.weights import processors
from earshot.models.u2.ctc_heads import NativeCtcHeads, ctc_heads

COMPANY = (2, 5, 16)


@pytest.fixture(scope="session", params=processors())
def processor(request) -> str:
    return request.param


@pytest.fixture
def threads():
    """Sets torch's number of threads, which it has again after the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def stem_of(kind: str, size: int, bins: int = 80) -> Conv1dStem:
    stem = build_stem(kind, bins, size)
    assert isinstance(stem, Conv1dStem)
    return stem.requires_grad_(False)


@pytest.mark.parametrize("bins", [80, 23])
@pytest.mark.parametrize("size", [16, 36])
@pytest.mark.parametrize("kind", ["conv1d6", "conv1d8"])
def test_a_stem_gives_what_torchs_gives(processor, kind, size, bins, assert_same):
    torch.manual_seed(1)
    stem = stem_of(kind, size, bins)
    features = torch.randn(3, 67, bins)
    assert_same(NativeConv1dStem(stem, processor)(features), stem(features), rtol=1e-5)


@pytest.mark.parametrize("lanes", COMPANY)
def test_a_lanes_stem_has_the_same_bits_alone_and_in_company(processor, threads, lanes):
    torch.manual_seed(lanes)
    stem = NativeConv1dStem(stem_of("conv1d6", 36), processor)
    features = torch.randn(lanes, 67, 80)
    threads(lanes)
    together = stem(features)
    threads(1)
    for row in range(lanes):
        assert torch.equal(together[row], stem(features[row : row + 1])[0])


def test_nan_in_features_is_nan_in_what_the_stem_gives(processor):
    features = torch.randn(2, 67, 80)
    features[1, 30, 5] = torch.nan
    found = NativeConv1dStem(stem_of("conv1d6", 36), processor)(features)
    assert found[1].isnan().any()
    assert not found[0].isnan().any()


@pytest.mark.parametrize("size", [16, 36])
@pytest.mark.parametrize("frames", [5, 9, 30])
def test_whispers_stem_gives_what_torchs_gives(processor, size, frames, assert_same):
    torch.manual_seed(frames)
    stem = WhisperStem(23, size).requires_grad_(False)
    heard, begins = torch.randn(4, frames, 23), torch.tensor([True, False, False, True])
    found = NativeConv1dStem(stem, processor)(heard, begins)
    assert_same(found, stem(heard, begins), rtol=1e-5)
    assert not torch.allclose(found[:1], stem(heard, ~begins)[:1], atol=1e-3)


@pytest.mark.parametrize("lanes", COMPANY)
def test_a_lanes_whisper_stem_has_the_same_bits_alone_and_in_company(processor, threads, lanes):
    torch.manual_seed(lanes)
    stem = NativeConv1dStem(WhisperStem(80, 36).requires_grad_(False), processor)
    heard, begins = torch.randn(lanes, 31, 80), torch.arange(lanes) % 2 == 0
    threads(lanes)
    together = stem(heard, begins)
    threads(1)
    for row in range(lanes):
        one = slice(row, row + 1)
        assert torch.equal(together[row], stem(heard[one], begins[one])[0])


@pytest.mark.parametrize("symbols", [2, 16, 161])
def test_a_head_gives_what_torchs_gives(processor, symbols, assert_same):
    torch.manual_seed(symbols)
    head = CtcHead(symbols, 36, blank_id=0).requires_grad_(False)
    encoded = 5 * torch.randn(3, 130, 36)
    found = NativeCtcHead(head.ctc_lo, processor=processor)(encoded)
    assert_same(found, head(encoded), rtol=1e-5)


@pytest.mark.parametrize("rate", [1, 2, 3])
def test_a_phone_head_gives_what_torchs_gives(processor, rate, assert_same):
    torch.manual_seed(rate)
    head = PhoneHead(phones=38, rate=rate, size=36).requires_grad_(False)
    encoded = torch.randn(2, 9, 36)
    native = NativeCtcHead(head.ctc_lo, rate, processor)
    assert_same(native(encoded), head(encoded), rtol=1e-5)
    assert_same(native(encoded[0]), head(encoded[0]), rtol=1e-5)
    assert native(encoded[:, :0]).shape == head(encoded[:, :0]).shape


@pytest.mark.parametrize("lanes", COMPANY)
def test_a_frames_log_probabilities_have_the_same_bits_alone_and_in_company(
    processor, threads, lanes
):
    torch.manual_seed(lanes)
    head = NativeCtcHead(nn.Linear(36, 2 * 39).requires_grad_(False), 2, processor)
    encoded = torch.randn(lanes, 8, 36)
    threads(lanes)
    together = head(encoded)
    threads(1)
    for row in range(lanes):
        assert torch.equal(together[row], head(encoded[row : row + 1])[0])
        assert torch.equal(together[row, :2], head(encoded[row, :1]))


def test_nan_is_in_all_log_probabilities_of_its_frame(processor):
    encoded = torch.randn(3, 36)
    encoded[1, 7] = torch.nan
    found = NativeCtcHead(nn.Linear(36, 11).requires_grad_(False), processor=processor)(encoded)
    assert found[1].isnan().all()
    assert not found[[0, 2]].isnan().any()


def test_heads_are_native_where_the_weights_allow_it():
    model = make_tiny_model()
    assert isinstance(ctc_heads(model), NativeCtcHeads)
    assert ctc_heads(model.double()) is model
