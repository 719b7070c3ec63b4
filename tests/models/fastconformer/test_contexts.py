"""Masks against a loop over queries and keys."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.contexts import attention_mask, context_mask

SIZES, SPANS = st.integers(0, 12), st.integers(-1, 6)


@given(size=SIZES, left=SPANS, right=SPANS)
def test_a_regular_context_counts_frames_on_both_sides(size: int, left: int, right: int) -> None:
    found = context_mask(size, AttentionContext(left, right), "regular")
    for query in range(size):
        for key in range(size):
            near = (left < 0 or query - key <= left) and (right < 0 or key - query <= right)
            assert bool(found[query, key]) == near


@given(size=SIZES, chunks=st.integers(-1, 3), right=st.integers(0, 4))
def test_frames_of_a_chunk_see_it_whole_and_so_many_before(
    size: int, chunks: int, right: int
) -> None:
    left = -1 if chunks < 0 else chunks * (right + 1)
    found = context_mask(size, AttentionContext(left, right), "chunked_limited")
    for query in range(size):
        for key in range(size):
            behind = query // (right + 1) - key // (right + 1)
            near = behind >= 0 and (chunks < 0 or behind <= chunks)
            assert bool(found[query, key]) == near


def test_chunks_without_an_end_are_everything() -> None:
    assert bool(context_mask(5, AttentionContext(), "chunked_limited").all())


@given(lengths=st.lists(st.integers(0, 8), min_size=1, max_size=3), left=SPANS)
def test_padding_neither_sees_nor_is_seen(lengths: list[int], left: int) -> None:
    context = AttentionContext(left, 1)
    found = attention_mask(torch.tensor(lengths), 8, context, "regular")
    for row, length in zip(found, lengths, strict=True):
        assert torch.equal(row[:length, :length], context_mask(length, context, "regular"))
        assert not bool(row[length:].any() or row[:, length:].any())
