"""Distances between queries and keys."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from earshot.models.fastconformer.positions import by_key, relative_positions
from earshot.models.layers.positional import positional_encoding


@given(keys=st.integers(1, 9), queries=st.integers(1, 9))
def test_each_key_gets_the_score_of_its_distance(keys: int, queries: int) -> None:
    queries = min(queries, keys)
    distances = torch.arange(keys - 1, -queries, -1)
    scores = (distances + 100 * torch.arange(queries).unsqueeze(1)).expand(2, 3, -1, -1)
    found = by_key(scores, keys)
    for query in range(queries):
        for key in range(keys):
            distance = keys - queries + query - key
            assert torch.equal(found[..., query, key], torch.full((2, 3), distance + 100 * query))


def test_positions_go_from_the_farthest_behind_to_the_farthest_ahead() -> None:
    found = relative_positions(2, 3, torch.zeros(1, 8))
    assert torch.equal(found, positional_encoding(torch.tensor([2, 1, 0, -1]), 8))


def test_there_is_no_farthest_distance() -> None:
    found = relative_positions(1, 6_001, torch.zeros(1, 8))
    assert torch.equal(found[0], positional_encoding(torch.tensor(6_000), 8))
    assert len(found) == 6_001
