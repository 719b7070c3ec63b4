"""What runs are compared by."""

from pathlib import Path

import pytest

from earshot.training.errors import TrainingStateError
from earshot.training.run.run_identity import require_same

STATE = Path("state.pt")


def test_a_run_saved_when_tokens_were_called_pieces_goes_on() -> None:
    require_same(STATE, {"units.pieces": 160}, {"units.tokens": 160})
    require_same(STATE, {"pieces": "a checksum"}, {"tokenizer": "a checksum"})


def test_another_number_of_tokens_is_another_run_by_either_name() -> None:
    for key in ("units.pieces", "units.tokens"):
        with pytest.raises(TrainingStateError, match=r"other units\.tokens"):
            require_same(STATE, {key: 160}, {"units.tokens": 12})
