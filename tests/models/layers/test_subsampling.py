import pytest
import torch

from earshot.models.config import EncoderConfig
from earshot.models.layers.subsampling import STEM_SHAPES, build_stem, encoder_shape

WENETS = [name for name in STEM_SHAPES if name != "whisper"]  # that one has a test of its own
RATES = {"conv2d": (4, 6), "conv2d6": (6, 10), "conv2d8": (8, 14)}


@pytest.mark.parametrize("name", WENETS)
def test_rate_and_right_context_are_wenets(name):
    shape = STEM_SHAPES[name]
    assert (shape.rate, shape.right_context) == RATES[name.replace("1d4", "2d").replace("1d", "2d")]


@pytest.mark.parametrize("name", WENETS)
def test_output_length_is_what_the_convolutions_give(name):
    shape, stem = STEM_SHAPES[name], build_stem(name, 80, 8)
    for length in range(shape.right_context + 1, shape.right_context + 30):
        assert stem(torch.zeros(1, length, 80)).size(1) == shape.output_length(length)


@pytest.mark.parametrize("name", STEM_SHAPES)
def test_nothing_comes_of_too_few_frames(name):
    shape = STEM_SHAPES[name]
    assert shape.output_length(shape.right_context) == 0
    assert shape.output_length(0) == 0
    lengths = torch.tensor([0, shape.right_context, shape.right_context + 1])
    assert shape.output_lengths(lengths).tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", WENETS)
@torch.no_grad()
def test_an_output_sees_its_right_context_and_no_more(name):
    torch.manual_seed(0)
    shape, stem = STEM_SHAPES[name], build_stem(name, 80, 8)
    features = torch.randn(1, 60, 80)
    changed = features.clone()
    changed[:, shape.right_context + 1 :] += 1.0
    torch.testing.assert_close(stem(changed)[:, 0], stem(features)[:, 0], rtol=0, atol=0)
    changed[:, shape.right_context] += 1.0
    assert not torch.allclose(stem(changed)[:, 0], stem(features)[:, 0])


@pytest.mark.parametrize("name", STEM_SHAPES)
def test_a_mean_of_two_frames_doubles_the_rate(name):
    stem = STEM_SHAPES[name]
    config = EncoderConfig(input_layer=name, use_cnn_module=False, pool_after_block=3)
    shape = encoder_shape(config)
    assert shape.rate == 2 * stem.rate
    assert shape.right_context == stem.right_context + stem.rate
    for length in range(60):
        assert shape.output_length(length) == stem.output_length(length) // 2
