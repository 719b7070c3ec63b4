"""Rows begin where sentences do, in the shares asked for, the same for the same update."""

import numpy as np
import torch

from earshot.training.neural_lm.row_sampler import RowSampler
from earshot.training.neural_lm.token_text import END

SHORT = np.array([END, 10, 11, END, 12, END, 13, 14, 15, 16, END], np.uint16)
OTHER = np.array([END, *[20] * 30, END], np.uint16)


def test_rows_begin_at_ends_and_are_followed_by_what_follows():
    tokens, following = RowSampler([SHORT], [1.0], length=5, seed=0).rows(step=3, count=40)
    assert tokens.shape == following.shape == (40, 5)
    assert torch.equal(tokens[:, 1:], following[:, :-1])
    found = {tuple(row) for row in torch.cat((tokens, following[:, -1:]), dim=1).tolist()}
    assert found == {tuple(SHORT[i : i + 6].tolist()) for i in (0, 3, 5)}


def test_an_update_has_its_own_rows_however_often_it_is_asked_for():
    sampler = RowSampler([SHORT, OTHER], [1.0, 1.0], length=5, seed=1)
    again = RowSampler([SHORT, OTHER], [1.0, 1.0], length=5, seed=1)
    sampler.rows(step=0, count=9)
    assert torch.equal(sampler.rows(7, 9)[0], again.rows(7, 9)[0])
    assert not torch.equal(sampler.rows(8, 9)[0], again.rows(7, 9)[0])


def test_texts_are_drawn_by_their_shares():
    tokens, _ = RowSampler([SHORT, OTHER], [3.0, 1.0], length=5, seed=2).rows(0, 4000)
    share = float((tokens[:, 1] == 20).float().mean())
    assert abs(share - 0.25) < 0.03


def test_a_text_without_an_early_end_is_read_from_its_start():
    text = np.array([9, 8, 7, 6, 5, END], np.uint16)
    tokens, _ = RowSampler([text], [1.0], length=5, seed=0).rows(0, 2)
    assert tokens.tolist() == [[9, 8, 7, 6, 5]] * 2
