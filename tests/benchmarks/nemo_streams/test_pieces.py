"""The benchmark's model is read as it was written."""

from pathlib import Path

import pytest
import torch

from benchmarks.nemo_streams.pieces import pieces_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.fastconformer.config import FastConformerModelConfig
from earshot.models.fastconformer.model import FastConformerModel
from earshot.training.student.nemo_archive import write_archive

SENTENCES = ["the quick brown fox", "jumps over the lazy dog", "and over the other fox"]


@pytest.fixture(scope="module")
def archive(small_model: FastConformerModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nemo") / "small.nemo"
    write_archive(path, small_model, pieces_of(SENTENCES * 20, small_model.config.vocab_size))
    return path


def test_a_model_is_read_as_it_was_written(
    archive: Path, small_model: FastConformerModel, small_config: FastConformerModelConfig
) -> None:
    model = load_model(archive).model
    assert isinstance(model, FastConformerModel)
    assert model.config == small_config
    found, expected = model.state_dict(), small_model.state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)


def test_its_units_are_the_pieces(archive: Path) -> None:
    tokenizer = load_model(archive).tokenizer
    assert tokenizer.decode(tokenizer.encode("the lazy fox")) == "the lazy fox"
    assert tokenizer.units.symbols[0] == "<unk>"
