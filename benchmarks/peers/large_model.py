"""A U2++ conformer of WeNet's usual size with random weights, for timing alone."""

from pathlib import Path

import torch

from earshot.models.checkpoints.own_format import save_model
from earshot.models.config import ModelConfig
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.u2.u2 import U2Model

VOCABULARY = 4233
FIRST_CHARACTER = 0x4E00
MORE_BLANKS = 2.0
"""Added to the blank's score: else every frame would be a token."""


def write_large_model(folder: Path) -> Path:
    """Write a model of 12 blocks of 256 (4 heads, 2048, kernel 15), 3 + 3 decoder blocks."""
    torch.manual_seed(1)
    last = VOCABULARY - 1
    model = U2Model(ModelConfig(vocab_size=VOCABULARY, sos_id=last, eos_id=last))
    with torch.no_grad():
        model.ctc.ctc_lo.bias[0] += MORE_BLANKS
    characters = [chr(FIRST_CHARACTER + unit) for unit in range(2, last)]
    symbols = ["<blank>", "<unk>", *characters, "<sos/eos>"]
    text = "".join(f"{symbol} {unit}\n" for unit, symbol in enumerate(symbols))
    save_model(folder, model, CharTokenizer(UnitTable.parse(text, "units")), "random-12x256")
    return folder
