import pytest
import torch

from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.decoder_kernels.slot_spans import SlotSpans


def test_a_slot_has_one_span_at_a_time() -> None:
    rows = torch.empty(2, dtype=torch.int64)
    spans = SlotSpans(6, rows)
    spans.take(0, 4, "a table")
    assert spans.take(0, 6, "a larger table") == 0
    assert rows.tolist() == [0, -1]
    with pytest.raises(CapacityExceeded, match="0 of 6 are free"):
        spans.take(1, 1, "a row")


def test_what_does_not_fit_is_named_and_leaves_its_slot_without() -> None:
    rows = torch.empty(2, dtype=torch.int64)
    spans = SlotSpans(6, rows)
    spans.take(0, 4, "a table")
    spans.take(1, 2, "a small table")
    with pytest.raises(CapacityExceeded, match=r"a large table does not fit .*2 of 6 are free"):
        spans.take(1, 3, "a large table")
    assert rows.tolist() == [0, -1]


def test_a_span_is_given_back_once() -> None:
    spans = SlotSpans(6, torch.empty(2, dtype=torch.int64))
    spans.take(0, 6, "a table")
    spans.give_back(0)
    spans.give_back(0)
    spans.take(0, 6, "a table")
    with pytest.raises(CapacityExceeded, match="0 of 6 are free"):
        spans.take(1, 1, "a row")
