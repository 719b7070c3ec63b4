import math

import pytest
import torch
from kept_frames import frames_like
from safetensors.torch import load_file

from earshot.models.layers.positional import positional_encoding, whisper_positions


def test_equals_the_golden_positions(golden, assert_same):
    size = golden.model.config.encoder.output_size
    expected = golden.arrays["A_pos_emb"]
    table = positional_encoding(torch.arange(golden.arrays["full_A"].size(1)), size)
    # A rate may round to its neighbour, which moves the angle of the last position that much.
    largest_angle = table.size(0)
    rounding = largest_angle * torch.finfo(torch.float32).eps
    assert_same(frames_like(table[None], expected), expected, rounding)


def test_follows_the_formula_beyond_5000():
    place, size = 123_456, 8
    row = positional_encoding(torch.tensor([place]), size)[0].tolist()
    for pair in range(size // 2):
        angle = place * math.exp(-2 * pair * math.log(10_000) / size)
        assert math.isclose(row[2 * pair], math.sin(angle), abs_tol=2e-2)
        assert math.isclose(row[2 * pair + 1], math.cos(angle), abs_tol=2e-2)


def test_keeps_the_shape_of_the_positions():
    assert positional_encoding(torch.zeros(3, 5, dtype=torch.int64), 6).shape == (3, 5, 6)


def test_whispers_positions_are_sines_then_cosines():
    rows, size = whisper_positions(torch.tensor([0, 1, 1499]), 8), 8
    assert rows[0].tolist() == [0.0] * 4 + [1.0] * 4
    for place, row in ((1, rows[1]), (1499, rows[2])):
        for index in range(size // 2):
            angle = place * 10_000 ** (-index / (size // 2 - 1))
            assert math.isclose(row[index], math.sin(angle), abs_tol=2.5e-4)
            assert math.isclose(row[size // 2 + index], math.cos(angle), abs_tol=2.5e-4)


def test_whispers_positions_are_those_of_published_checkpoints(shared_dir):
    folder = shared_dir / "whisper"
    if not folder.exists():
        pytest.skip(f"shared data is missing: {folder}")
    for name in ("tiny.en", "base"):
        weights = load_file(folder / f"{name}-encoder.safetensors")
        table = weights["encoder.positional_embedding"].float()
        assert torch.equal(whisper_positions(torch.arange(len(table)), table.size(1)), table)
