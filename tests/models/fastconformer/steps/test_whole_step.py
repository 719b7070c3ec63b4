"""Utterances natively must be what torch makes of them: in every context, alone and in company."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from odd_encoders import ODD, assert_bits, make_encoder
from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.steps.whole_step import NativeWhole
from earshot.models.native.precision import Precision

ROUNDING = 2e-5
LONGEST = 200
"""Feature frames: five blocks of rows that look at each other in one go, and more."""

WHOLE: dict[str, Any] = {
    "subsampling_factor": 2,
    "causal_stem": False,
    "causal_convolution": False,
    "context_style": "regular",
}
REGULAR = [(-1, -1), (5, 3), (-1, 2), (4, -1), (0, 0), (0, 30), (30, 0)]
IN_CHUNKS = [(6, 2), (-1, 2), (0, 1), (8, 0), (29, 28), (-1, 0)]
CONTEXTS = {
    **{f"regular {context}": {"contexts": (AttentionContext(*context),)} for context in REGULAR},
    **{
        f"chunks {context}": {
            "contexts": (AttentionContext(*context), AttentionContext(0, 0)),
            "context_style": "chunked_limited",
        }
        for context in IN_CHUNKS
    },
}
KINDS: dict[str, dict[str, Any]] = {
    "normalised": {"normalise": "per_feature"},
    "batch_norm": {"conv_norm": "batch_norm", "normalise": "per_feature", "kernel": 9},
    "no_bias": {
        "use_bias": False,
        "shared_positions": True,
        "scale_input": False,
        "conv_norm": "batch_norm",  # which sees what is added to all
    },
    "kernel_of_one": {"kernel": 1},
    "kernel_longer_than_many": {"kernel": 31},
    "causal": {"causal_stem": True, "causal_convolution": True, "kernel": 4},
    "causal_convolution": {"causal_convolution": True},
    "conformer": {"subsampling": "striding", "subsampling_factor": 4, "heads": 1},
    "rate_of_eight": {"subsampling_factor": 8, "features_size": 20},
}
LENGTHS = st.lists(st.integers(0, LONGEST), min_size=1, max_size=4)


@functools.cache
def encoder_of(name: str) -> FastConformerEncoder:
    return make_encoder(replace(ODD, **{**WHOLE, **{**CONTEXTS, **KINDS}[name]}))


@functools.cache
def whole_of(name: str, processor: str, precision: Precision = "float32") -> NativeWhole:
    return NativeWhole(encoder_of(name), LONGEST, processor, precision)


def utterances(encoder: FastConformerEncoder, lengths: list[int], spare: int = 0) -> Tensor:
    """Features (B, T, F), NaN past the lengths; T is `spare` more than the greatest."""
    features = torch.randn(len(lengths), max(lengths) + spare, encoder.config.features_size)
    for row, length in zip(features, lengths, strict=True):
        row[length:] = torch.nan
    return features


@torch.no_grad()
def assert_torchs(name: str, processor: str, lengths: list[int]) -> None:
    encoder = encoder_of(name)
    features, sizes = utterances(encoder, lengths, len(lengths) - 1), torch.tensor(lengths)
    found, frames = whole_of(name, processor)(features, sizes)
    expected, counts = encoder(features, sizes)
    assert torch.equal(frames, counts)
    assert found.shape == (len(lengths), int(counts.max()), encoder.config.size)
    for row, count in enumerate(counts.tolist()):
        most = float(expected[row, :count].abs().amax()) if count else 0.0
        torch.testing.assert_close(
            found[row, :count], expected[row, :count], rtol=0, atol=ROUNDING * most
        )
        assert not found[row, count:].any()


@pytest.mark.parametrize("name", [*CONTEXTS, *KINDS])
@settings(max_examples=6)
@given(lengths=LENGTHS)
@example(lengths=[0])
@example(lengths=[1])
@example(lengths=[LONGEST, 0, 1, 2])
def test_utterances_are_torchs(processor: str, name: str, lengths: list[int]) -> None:
    torch.manual_seed(len(lengths))
    assert_torchs(name, processor, lengths)


@pytest.mark.parametrize("frames", [11, 12, 13, 23, 24, 25, 47, 48, 49, 96, 97])
def test_utterances_at_the_edges_of_blocks_are_torchs(processor: str, frames: int) -> None:
    """A block is four tiles, of 3, 6 or 12 rows."""
    torch.manual_seed(frames)
    assert_torchs("regular (-1, -1)", processor, [2 * frames])
    assert_torchs("chunks (6, 2)", processor, [2 * frames])


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["regular (5, 3)", "chunks (6, 2)", *KINDS])
@pytest.mark.parametrize("workers", [1, 3])
@torch.no_grad()
def test_an_utterance_has_the_same_bits_alone_and_in_company(
    processor: str,
    threads: Callable[[int], None],
    name: str,
    precision: Precision,
    workers: int,
) -> None:
    """Beside one of numbers that are none, and one of none at all."""
    torch.manual_seed(workers)
    whole, lengths = whole_of(name, processor, precision), [33, LONGEST, 1, 0, 61, 132]
    features, sizes = utterances(encoder_of(name), lengths, spare=7), torch.tensor(lengths)
    features[4] = torch.nan
    order = torch.randperm(len(lengths))
    threads(workers)
    together, counts = whole(features[order], sizes[order])
    threads(1)
    for row, own in enumerate(order.tolist()):
        alone, [count] = whole(features[own : own + 1, : lengths[own]], sizes[own : own + 1])
        assert counts[row] == count
        assert_bits([together[row, :count]], [alone[0]])
    assert together[order.tolist().index(4), :1].isnan().all()


@pytest.mark.parametrize("name", ["regular (-1, -1)", "chunks (6, 2)", "causal"])
@torch.no_grad()
def test_the_longest_utterance_is_heard_and_a_longer_one_refused(processor: str, name: str) -> None:
    encoder, whole = encoder_of(name), whole_of(name, processor)
    longer = LONGEST
    while encoder.encoded_length(longer) == encoder.encoded_length(LONGEST):
        longer += 1
    for length in (LONGEST, longer - 1):
        found, _ = whole(torch.randn(1, length, 13), torch.tensor([length]))
        assert found.isfinite().all()
    with pytest.raises(ValueError, match="beyond Reach"):
        whole(torch.randn(2, longer, 13), torch.tensor([longer, 3]))


@torch.no_grad()
def test_how_long_an_utterance_may_be_changes_no_shorter_one(processor: str) -> None:
    """Encoders of other reaches have other distances packed, whose order changes nothing."""
    encoder, features = encoder_of("regular (-1, -1)"), torch.randn(1, 77, 13)
    found = [
        NativeWhole(encoder, longest, processor)(features, torch.tensor([77]))[0]
        for longest in (77, 78, 90, 222)
    ]
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=0, atol=1e-5)
