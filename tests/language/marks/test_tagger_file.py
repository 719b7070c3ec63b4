"""A tagger as a file."""

import pytest
import safetensors.torch
import torch

from earshot.language.marks.tagger_file import load_tagger, save_tagger
from earshot.language.marks.tagger_network import TaggerConfig, TaggerNetwork
from earshot.language.marks.word_numbers import WordNumbers
from earshot.language.marks.word_tagger import WordTagger
from earshot.models.errors import CheckpointError, NotACheckpoint

CONFIG = TaggerConfig(words=4, hashed=4, ends=8, word_size=8, end_size=4, size=16)
ROWS, BIASES = (
    len(TaggerNetwork(CONFIG).state_dict()[name]) for name in ("word.weight", "head.bias")
)
WORDS = ("a", "brown", "mister")


@pytest.fixture
def saved(tmp_path):
    torch.manual_seed(1)
    tagger = WordTagger(TaggerNetwork(CONFIG), WordNumbers(WORDS, CONFIG), {"mcgee": "McGee"})
    path = tmp_path / "tagger.safetensors"
    save_tagger(path, tagger)
    return path, tagger


def test_it_comes_back_with_weights_of_eight_bits(saved):
    path, tagger = saved
    found = load_tagger(path)
    assert (found.forms, found.numbers.vocabulary) == ({"mcgee": "McGee"}, WORDS)
    for name, weights in tagger.network.state_dict().items():
        step = weights.abs().amax(-1, keepdim=True) / 127
        assert ((found.network.state_dict()[name] - weights).abs() <= 0.6 * step + 1e-3).all(), name


def test_a_row_of_zeros_comes_back(saved):
    path, tagger = saved
    with torch.no_grad():
        tagger.network.word.weight[0] = 0.0
    save_tagger(path, tagger)
    assert not load_tagger(path).network.word.weight[0].any()


def changed(path, **metadata):
    with safetensors.safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return tensors, {**file.metadata(), **metadata}


@pytest.mark.parametrize(
    "metadata",
    [
        {"format_version": "9"},
        {"network": "{}"},
        {"network": '{"size": -1}'},
        {"network": "[[[["},
        {"forms": '{"a": 1}'},
        {"forms": '{"a": "B"}'},
        {"forms": "[]"},
    ],
)
def test_sizes_and_forms_that_make_no_sense_are_named(saved, metadata):
    path, _ = saved
    tensors, told = changed(path, **metadata)
    safetensors.torch.save_file(tensors, path, told)
    with pytest.raises(CheckpointError, match=r"tagger\.safetensors"):
        load_tagger(path)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ({"word.weight.scale": None}, "lacks 1 .* word.weight.scale"),
        ({"word.weight.scale": torch.full((ROWS,), -1.0)}, "word.weight.scale holds what is no"),
        ({"word.weight.scale": torch.ones(ROWS, dtype=torch.bool)}, "scale holds torch.bool"),
        ({"word.weight.scale": torch.ones(ROWS, 1)}, "its scales for rows"),
        ({"head.bias": None}, "lacks 1 .* head.bias"),
        ({"head.bias": torch.zeros(3)}, r"head.bias is \(3,\) in the file"),
        ({"head.bias": torch.full((BIASES,), torch.nan)}, "head.bias holds what is no"),
        ({"head.bias": torch.zeros(BIASES, dtype=torch.complex64)}, "head.bias holds torch.compl"),
        ({"head.bias.scale": torch.ones(BIASES)}, "unknown .* head.bias.scale"),
        ({"more": torch.zeros(3)}, "unknown .* more"),
        ({"vocabulary": torch.tensor([255, 254], dtype=torch.uint8)}, "no usable vocabulary"),
        ({"vocabulary": torch.tensor([torch.nan, 97.0])}, "no usable vocabulary"),
        ({"vocabulary": torch.tensor([[97]], dtype=torch.uint8)}, "no usable vocabulary"),
        ({"vocabulary": torch.tensor(list(b"a\nb\nc\nd\ne"), dtype=torch.uint8)}, "5 words"),
    ],
)
def test_a_damaged_file_is_refused(saved, damage, complaint):
    path, _ = saved
    tensors, metadata = changed(path)
    kept = {name: each for name, each in {**tensors, **damage}.items() if each is not None}
    safetensors.torch.save_file(kept, path, metadata)
    with pytest.raises(CheckpointError, match=rf"tagger\.safetensors .*{complaint}"):
        load_tagger(path)


def test_another_file_is_no_tagger(tmp_path):
    path = tmp_path / "tagger.safetensors"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(NotACheckpoint):
        load_tagger(path)
