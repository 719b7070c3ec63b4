import pytest
import torch

from earshot.models.layers.masks import chunk_mask, padding_mask


@pytest.mark.parametrize("size", [1, 7, 16])
@pytest.mark.parametrize("chunk_size", [1, 3, 16])
@pytest.mark.parametrize("num_left_chunks", [-1, 0, 2])
def test_a_frame_sees_its_chunk_and_those_left_of_it(size, chunk_size, num_left_chunks):
    mask = chunk_mask(size, chunk_size, num_left_chunks)
    for query in range(size):
        chunk = query // chunk_size
        first = 0 if num_left_chunks < 0 else max(chunk - num_left_chunks, 0) * chunk_size
        seen = [first <= key < (chunk + 1) * chunk_size for key in range(size)]
        assert mask[query].tolist() == seen


def test_padding_is_not_seen():
    mask = padding_mask(torch.tensor([0, 2, 3]), 3)
    assert mask.int().tolist() == [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
