"""The native stem must be what torch's is: for every kind of stem, window and processor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from chunked_streams import CONFIG, make_encoder
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.chunk_step import ENDLESS
from earshot.models.fastconformer.steps.native_stem import NativeConv2dStem

ROUNDING = 1e-5
SIZE = 20
STEMS = [
    (kind, rate, causal)
    for kind in ("dw_striding", "striding")
    for rate in (2, 4, 8, 16)
    for causal in (False, True)
]
each_stem = pytest.mark.parametrize(("kind", "rate", "causal"), STEMS)


@functools.cache
def encoder_of(
    kind: str, rate: int, causal: bool, channels: int = 5, bins: int = 13, *, scaled: bool = True
) -> FastConformerEncoder:
    return make_encoder(
        replace(
            CONFIG,
            layers=1,
            size=SIZE,
            subsampling=kind,
            subsampling_factor=rate,
            causal_stem=causal,
            stem_channels=channels,
            features_size=bins,
            scale_input=scaled,
        )
    )


@functools.cache
def native_of(encoder: FastConformerEncoder, processor: str) -> NativeConv2dStem:
    return NativeConv2dStem(encoder, processor)


@dataclass
class Windows:
    """What a stem is given of some lanes."""

    features: Tensor
    firsts: Tensor
    lengths: Tensor
    wanted: Tensor

    def heard_by(self, stem: NativeConv2dStem) -> Tensor:
        return stem(self.features, self.firsts, self.lengths, self.wanted)

    def of(self, rows: slice | Tensor) -> Windows:
        return Windows(*(tensor[rows] for tensor in vars(self).values()))


Lane = tuple[int, int, int]
LANES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(-4, 60), st.integers(0, 6)), min_size=1, max_size=4
)
"""The first frame, feature frames of the sound from its place on, and frames that are wanted."""


def windows_of(encoder: FastConformerEncoder, lanes: list[Lane]) -> Windows:
    """NaN where there is no sound, and behind what the frames hear that are wanted."""
    stem, wanted = encoder.pre_encode, max(lane[2] for lane in lanes)
    size = stem.window_size(max(wanted, 1))
    features = torch.randn(len(lanes), size, encoder.config.features_size)
    lengths = []
    for row, (first, ahead, frames) in enumerate(lanes):
        lengths.append(ENDLESS if ahead > 50 else max(first * stem.rate + ahead, 0))
        place = torch.arange(size) + first * stem.rate - stem.window_before
        features[row, (place < 0) | (place >= lengths[-1])] = torch.nan
        features[row, stem.window_size(frames) if frames else 0 :] = torch.nan
    firsts, _, counts = map(torch.tensor, zip(*lanes, strict=True))
    return Windows(features, firsts, torch.tensor(lengths), counts)


@torch.no_grad()
def assert_torchs(encoder: FastConformerEncoder, processor: str, lanes: list[Lane]) -> None:
    given = windows_of(encoder, lanes)
    found = given.heard_by(native_of(encoder, processor))
    stem = encoder.pre_encode
    expected = encoder.scaled(stem.of_windows(given.features, given.firsts, given.lengths))
    assert found.shape == (len(lanes), int(given.wanted.max()), SIZE)
    for row, count in enumerate(given.wanted.tolist()):
        assert_near(found[row, :count], expected[row, :count])
        assert not found[row, count:].any()


def assert_near(found: Tensor, expected: Tensor) -> None:
    most = float(expected.abs().amax()) if expected.numel() else 0.0
    torch.testing.assert_close(found, expected, rtol=0, atol=ROUNDING * most)


@each_stem
@settings(max_examples=12)
@given(lanes=LANES)
@example(lanes=[(0, 60, 6), (3, 0, 0), (9, 1, 1)])
@example(lanes=[(0, 1, 1), (0, 0, 0)])
@example(lanes=[(2, -4, 6), (0, 3, 6)])  # frames that lie behind the end
def test_windows_of_sounds_are_torchs(
    processor: str, kind: str, rate: int, causal: bool, lanes: list[Lane]
) -> None:
    torch.manual_seed(len(lanes))
    assert_torchs(encoder_of(kind, rate, causal), processor, lanes)


@pytest.mark.parametrize("kind", ["dw_striding", "striding"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("channels", [1, 15, 16, 17, 40])
@pytest.mark.parametrize("bins", [1, 2, 7, 18, 31, 80])
def test_any_number_of_channels_and_bins_is_torchs(
    processor: str, kind: str, causal: bool, channels: int, bins: int
) -> None:
    torch.manual_seed(bins)
    encoder = encoder_of(kind, 4, causal, channels, bins, scaled=channels % 2 == 0)
    assert_torchs(encoder, processor, [(0, 60, 3), (1, 6, 4), (5, 60, 2)])


@each_stem
@torch.no_grad()
def test_whole_sounds_are_torchs(processor: str, kind: str, rate: int, causal: bool) -> None:
    torch.manual_seed(rate)
    encoder, lengths = encoder_of(kind, rate, causal), torch.tensor([70, 0, 1, 16, 33])
    features = torch.randn(len(lengths), 70, 13)
    for row, length in enumerate(lengths.tolist()):
        features[row, length:] = torch.nan
    expected, counts = encoder.stem(features, lengths)
    stem = encoder.pre_encode
    before, window = stem.window_before, stem.window_size(int(counts.max()))
    windows = functional.pad(features, (0, 0, before, window - before - 70), value=torch.nan)
    given = Windows(windows, torch.zeros_like(lengths), lengths, counts)
    found = given.heard_by(native_of(encoder, processor))
    for row, count in enumerate(counts.tolist()):
        assert_near(found[row, :count], expected[row, :count])


@each_stem
@pytest.mark.parametrize("workers", [1, 2, 5, 9])
@torch.no_grad()
def test_a_lane_has_the_same_bits_alone_and_in_company(
    processor: str,
    threads: Callable[[int], None],
    kind: str,
    rate: int,
    causal: bool,
    workers: int,
) -> None:
    torch.manual_seed(workers)
    encoder = encoder_of(kind, rate, causal)
    stem = native_of(encoder, processor)
    given = windows_of(
        encoder, [(0, 60, 6), (3, 7, 2), (4, 60, 0), (0, 1, 1), (7, 9, 5), (1, 60, 3), (9, 60, 6)]
    )
    order = torch.randperm(len(given.firsts))
    given.features[5].fill_(torch.inf)
    threads(workers)
    together = given.of(order).heard_by(stem)
    threads(1)
    for row, own in enumerate(order.tolist()):
        alone = given.of(slice(own, own + 1)).heard_by(stem)[0]
        torch.testing.assert_close(
            together[row, : len(alone)], alone, rtol=0, atol=0, equal_nan=True
        )


@each_stem
@torch.no_grad()
def test_a_number_that_is_none_is_heard_where_torch_hears_it(
    processor: str, kind: str, rate: int, causal: bool
) -> None:
    torch.manual_seed(1)
    encoder = encoder_of(kind, rate, causal)
    given = windows_of(encoder, [(4, 60, 6)])
    given.features[0, 2 * rate, 3] = torch.nan
    found = given.heard_by(native_of(encoder, processor))
    expected = encoder.pre_encode.of_windows(given.features, given.firsts, given.lengths)
    assert torch.equal(found.isnan(), expected.isnan())
    assert found.isnan().any()
    assert found.isfinite().any()


@torch.no_grad()
def test_windows_may_lie_anyhow_in_memory(processor: str) -> None:
    torch.manual_seed(2)
    encoder = encoder_of("dw_striding", 8, True)
    stem, given = native_of(encoder, processor), windows_of(encoder, [(0, 60, 2), (5, 60, 3)])
    expected = given.heard_by(stem)
    wider = functional.pad(given.features, (0, 4, 0, 3), value=torch.nan)[:, :-2, :-4]
    strided = Windows(wider, given.firsts, given.lengths, given.wanted)
    assert not wider.is_contiguous()
    assert torch.equal(strided.heard_by(stem), expected)


@each_stem
@torch.no_grad()
def test_a_window_that_is_too_short_is_refused(
    processor: str, kind: str, rate: int, causal: bool
) -> None:
    encoder = encoder_of(kind, rate, causal)
    stem, size = native_of(encoder, processor), encoder.pre_encode.window_size(3)
    numbers = torch.tensor([0, 4]), torch.tensor([ENDLESS, 90]), torch.tensor([1, 3])
    assert stem(torch.randn(2, size, 13), *numbers).isfinite().all()
    with pytest.raises(ValueError, match=f"a window of {size - 1} is too short for 3 frames"):
        stem(torch.randn(2, size - 1, 13), *numbers)


@pytest.mark.parametrize("size", [0, 1, 50])
def test_where_no_frame_is_wanted_there_is_none(processor: str, size: int) -> None:
    stem = native_of(encoder_of("dw_striding", 8, True), processor)
    numbers = torch.tensor([3, 0]), torch.tensor([7, 0]), torch.tensor([0, 0])
    assert stem(torch.randn(2, size, 13), *numbers).shape == (2, 0, SIZE)
