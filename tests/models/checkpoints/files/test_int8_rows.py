"""Weights stored as int8 a row: how far they are from what they were, and what is refused."""

from pathlib import Path

import pytest
import safetensors.torch
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from tiny_models import make_tiny_model
from torch import Tensor

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.files.int8_rows import (
    ROWS_LOOKED_AT,
    SMALLEST_SCALE,
    are_int8_rows,
    is_stored_as_rows,
    restore_rows,
    store_rows,
)
from earshot.models.checkpoints.files.safetensors_index import index_safetensors_file
from earshot.models.checkpoints.files.stored_tensors import in_memory, is_stored
from earshot.models.checkpoints.own_format import ALWAYS_FLOAT32, save_model
from earshot.models.errors import (
    DamagedWeights,
    MissingKeys,
    ShapeMismatch,
    UnknownKeys,
    UnusableNumbers,
)
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable

UNITS = UnitTable.parse("".join(f"{unit} {unit}\n" for unit in range(11)), "units.txt")
MODEL = make_tiny_model(output_size=64, linear_units=128)
KEY = "encoder.encoders.0.feed_forward.w_1.weight"
FLOATS = st.floats(-(2.0**126), 2.0**126, width=32)


def rounded(weight: Tensor) -> Tensor:
    rows, scale = store_rows(weight)
    return restore_rows({"w": rows, "w.scale": scale})["w"]


@given(st.lists(st.lists(FLOATS, min_size=6, max_size=6), min_size=1, max_size=4))
@example([[0.0] * 6, [1e-45, 0, 0, 0, 0, 0], [-1.0, 1.0, 0.5, 0.25, 1 / 254, 1 / 253]])
def test_each_number_moves_by_half_a_127th_of_its_rows_largest(rows):
    weight = torch.tensor(rows, dtype=torch.float32)
    largest = weight.double().abs().amax(dim=1, keepdim=True)
    bound = torch.maximum(largest / 127, torch.tensor(SMALLEST_SCALE)) / 2
    error = (rounded(weight).double() - weight.double()).abs()
    assert (error <= bound * (1 + 1e-4)).all()


@given(
    st.lists(st.integers(-127, 127), min_size=4, max_size=4), st.sampled_from([0.5, 4.0, 2**-30])
)
def test_whole_steps_come_back_as_they_were(steps, scale):
    weight = torch.tensor([[127, *steps]]) * scale
    assert torch.equal(rounded(weight), weight)


def test_rounding_is_symmetric():
    weight = torch.randn(5, 40, generator=torch.Generator().manual_seed(3))
    assert torch.equal(rounded(-weight), -rounded(weight))
    assert int(store_rows(weight)[0].min()) >= -127


@given(st.lists(st.lists(FLOATS, min_size=6, max_size=6), min_size=1, max_size=4))
@example([[0.0] * 6, [1e-45, 0, 0, 0, 0, 0], [-1.0, 1.0, 0.5, 0.25, 1 / 254, 1 / 253]])
def test_what_was_stored_is_known_again(rows):
    assert are_int8_rows(rounded(torch.tensor(rows, dtype=torch.float32)))


@pytest.fixture
def in_a_file(tmp_path) -> tuple[Tensor, Tensor]:
    """A weight as it is turned when it is read, and as it comes from memory."""
    weight = torch.randn(5, 40, 3, generator=torch.Generator().manual_seed(3))
    stored = dict(zip(("w", "w.scale"), store_rows(weight), strict=True))
    safetensors.torch.save_file(stored, tmp_path / "rows.safetensors")
    [kept] = restore_rows(index_safetensors_file(tmp_path / "rows.safetensors")).values()
    return kept, rounded(weight)


def test_rows_in_a_file_stay_there_until_they_are_read(in_a_file):
    kept, expected = in_a_file
    assert is_stored(kept)
    assert kept.dtype == torch.float32
    assert torch.equal(in_memory(kept), expected)


def test_views_of_rows_in_a_file_are_those_of_the_weight(in_a_file):
    kept, expected = in_a_file
    assert torch.equal(in_memory(kept[1:3, ::2].transpose(1, 2)), expected[1:3, ::2].mT)


def test_one_number_between_two_steps_is_known():
    weight = rounded(torch.randn(5, 40, 3, generator=torch.Generator().manual_seed(3)))
    assert are_int8_rows(weight)
    weight[3, 7, 1] += weight[3].abs().max() / 127 / 100
    assert not are_int8_rows(weight)
    weight[3, 7, 1] = torch.nan
    assert not are_int8_rows(weight)


def test_rows_here_and_there_tell_of_all():
    rows = 10 * ROWS_LOOKED_AT + 1
    weight = torch.randn(rows, 40, generator=torch.Generator().manual_seed(4))
    assert are_int8_rows(rounded(weight))
    assert not are_int8_rows(weight)
    weight[::10] = rounded(weight[::10])
    assert not are_int8_rows(weight)


def test_a_convolutions_row_is_an_output_channel():
    weight = torch.randn(4, 3, 3) * torch.tensor([1.0, 10.0, 100.0, 1000.0])[:, None, None]
    rows, scale = store_rows(weight)
    assert rows.shape == weight.shape
    torch.testing.assert_close(scale, weight.flatten(1).abs().amax(dim=1) / 127)


def test_biases_short_rows_and_counters_are_no_matrices():
    assert is_stored_as_rows("a.weight", torch.zeros(2, 32))
    assert not is_stored_as_rows("a.weight", torch.zeros(2, 31))
    assert not is_stored_as_rows("a.weight", torch.zeros(64))
    assert not is_stored_as_rows("a.weight", torch.zeros(2, 32, dtype=torch.int64))
    assert not is_stored_as_rows("pos_bias_u", torch.zeros(2, 32))


@pytest.fixture
def model_dir(tmp_path: Path) -> Path:
    save_model(tmp_path / "int8", MODEL, CharTokenizer(UNITS), name="tiny", dtype=torch.int8)
    return tmp_path / "int8"


def test_a_model_takes_a_quarter_and_runs_in_float32(tmp_path, model_dir):
    save_model(tmp_path / "float32", MODEL, CharTokenizer(UNITS), name="tiny")
    sizes = [
        sum(w.nbytes for w in safetensors.torch.load_file(d / "model.safetensors").values())
        for d in (model_dir, tmp_path / "float32")
    ]
    assert sizes[0] < 0.3 * sizes[1]
    loaded = load_model(model_dir).model.state_dict()
    for key, weight in MODEL.state_dict().items():
        assert loaded[key].dtype == weight.dtype
        if key in ALWAYS_FLOAT32:
            assert torch.equal(loaded[key], weight)
        elif is_stored_as_rows(key, weight):
            assert torch.equal(loaded[key], rounded(weight))
        else:
            torch.testing.assert_close(loaded[key], weight, rtol=1e-3, atol=1e-6)


def test_outputs_are_near_those_of_float32(model_dir):
    loaded = load_model(model_dir).model
    features = torch.randn(1, 50, 80, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        found, _ = loaded.encoder(features, torch.tensor([50]))
        expected, _ = MODEL.encoder(features, torch.tensor([50]))
    assert 0 < (found - expected).norm() < 0.03 * expected.norm()


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({".scale": None}, MissingKeys, r"w_1\.weight\.scale"),
        ({"": None}, MissingKeys, r"w_1\.weight"),
        ({".scale": torch.ones(64)}, ShapeMismatch, "its scales for rows"),
        ({".scale": torch.ones(128, 1)}, ShapeMismatch, "its scales for rows"),
        ({".scale": torch.ones(128, dtype=torch.int32)}, UnusableNumbers, "int32"),
        ({".scale": torch.ones(128, dtype=torch.float64)}, UnusableNumbers, "float64"),
        ({".scale": torch.full((128,), torch.inf)}, DamagedWeights, r"weight\.scale"),
        ({".scale": torch.full((128,), torch.nan)}, DamagedWeights, r"weight\.scale"),
        ({".scale": -torch.ones(128)}, DamagedWeights, r"weight\.scale"),
        ({".scale": torch.zeros(128)}, DamagedWeights, r"weight\.scale"),
        ({".scale": torch.full((128,), 3e38)}, DamagedWeights, r"w_1\.weight"),
        ({"": torch.ones(128, 64)}, UnknownKeys, r"w_1\.weight\.scale"),
        ({"": torch.ones(128, dtype=torch.int8)}, ShapeMismatch, "its scales for rows"),
        ({"": torch.ones(128, 64, dtype=torch.uint8)}, UnknownKeys, r"weight\.scale"),
        ({"": torch.ones(128, 63, dtype=torch.int8)}, ShapeMismatch, "in the configuration"),
    ],
)
def test_what_is_wrong_is_named(model_dir, changed, error, message):
    path = model_dir / "model.safetensors"
    weights = safetensors.torch.load(path.read_bytes())
    weights |= {KEY + name: weight for name, weight in changed.items()}
    kept = {key: weight for key, weight in weights.items() if weight is not None}
    safetensors.torch.save_file(kept, path)
    with pytest.raises(error, match=message):
        load_model(model_dir)


def test_weights_that_are_no_numbers_are_not_hidden_by_rounding(tmp_path):
    model = make_tiny_model(output_size=64, linear_units=128)
    model.state_dict()[KEY][3, 5] = torch.nan
    save_model(tmp_path, model, CharTokenizer(UNITS), name="tiny", dtype=torch.int8)
    with pytest.raises(DamagedWeights, match=r"w_1\.weight"):
        load_model(tmp_path)
