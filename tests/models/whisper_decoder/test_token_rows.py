"""Rows of tokens say the same in whatever memory they are kept."""

import torch

from earshot.models.checkpoints.files.int8_rows import store_rows
from earshot.models.whisper_decoder.token_rows import ROWS_AT_ONCE, TokenRows

ROWS, SIZE = ROWS_AT_ONCE + 7, 40
TOKENS = torch.tensor([[0, 5], [ROWS_AT_ONCE, ROWS - 1]])


def stored_table() -> torch.Tensor:
    rows, scale = store_rows(torch.randn(ROWS, SIZE))
    return rows.float() * scale[:, None]


def test_a_table_that_was_stored_as_int8_takes_a_quarter_and_says_the_same_to_the_bit() -> None:
    table = stored_table()
    rows = TokenRows(table)
    assert rows.nbytes == ROWS * (SIZE + 4)
    assert torch.equal(rows(TOKENS), table[TOKENS])


def test_one_number_that_int8_does_not_hold_keeps_the_table_as_it_is() -> None:
    table = stored_table()
    table[-1, 3] += 1e-4
    rows = TokenRows(table)
    assert rows.nbytes == table.nbytes
    assert torch.equal(rows(TOKENS), table[TOKENS])


def test_a_row_of_nothing_stays_nothing() -> None:
    table = stored_table()
    table[5] = 0
    assert torch.equal(TokenRows(table)(TOKENS), table[TOKENS])
