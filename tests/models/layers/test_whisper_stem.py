import torch
from torch import Tensor
from torch.nn import functional

from earshot.models.layers.whisper_stem import PAST, WhisperStem


def stem_of(seed: int = 0) -> WhisperStem:
    torch.manual_seed(seed)
    return WhisperStem(10, 6).requires_grad_(False)


def whispers(stem: WhisperStem, features: Tensor) -> Tensor:
    """Whisper's own way, padded on both sides."""
    one, two = stem.conv1, stem.conv2
    x = functional.gelu(functional.conv1d(features.mT, one.weight, one.bias, padding=1))
    return functional.gelu(functional.conv1d(x, two.weight, two.bias, stride=2, padding=1)).mT


def from_the_start(stem: WhisperStem, features: Tensor) -> Tensor:
    padded = functional.pad(features, (0, 0, PAST, 0))
    return stem(padded, torch.ones(len(features), dtype=torch.bool))


def test_a_segment_begins_as_whisper_pads_it():
    stem, features = stem_of(), torch.randn(2, 41, 10)
    found, expected = from_the_start(stem, features), whispers(stem, features)
    assert (found.size(1), expected.size(1)) == (20, 21)  # what sees padding at the end is not
    torch.testing.assert_close(found, expected[:, :20], rtol=0, atol=1e-6)


def test_windows_give_what_the_whole_gives():
    stem, features = stem_of(), torch.randn(1, 45, 10)
    whole = from_the_start(stem, features)
    goes_on = torch.zeros(1, dtype=torch.bool)
    for first in range(1, 20):
        window = features[:, 2 * first - PAST : 2 * first + 3]
        torch.testing.assert_close(stem(window, goes_on)[:, 0], whole[:, first], rtol=0, atol=1e-6)


def test_only_rows_that_begin_are_padded():
    stem, rows = stem_of(), torch.randn(2, 9, 10)
    rows[0, :PAST] = 0.0
    mixed = stem(rows, torch.tensor([True, False]))
    torch.testing.assert_close(mixed[:1], from_the_start(stem, rows[:1, PAST:]), rtol=0, atol=1e-6)
    torch.testing.assert_close(mixed[1:], stem(rows[1:], torch.tensor([False])), rtol=0, atol=1e-6)
    assert not torch.allclose(stem(rows[:1], torch.tensor([False]))[:, 0], mixed[:1, 0])
