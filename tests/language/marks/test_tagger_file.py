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
    "damage",
    [
        lambda tensors: tensors.pop("word.weight.scale"),
        lambda tensors: tensors.pop("head.bias"),
        lambda tensors: tensors.update(more=torch.zeros(3)),
        lambda tensors: tensors["head.bias"].fill_(float("nan")),
        lambda tensors: tensors.update(vocabulary=torch.tensor([255, 254], dtype=torch.uint8)),
        lambda tensors: tensors.update(
            vocabulary=torch.frombuffer(bytearray(b"a\nb\nc\nd\ne"), dtype=torch.uint8)
        ),
    ],
)
def test_a_damaged_file_is_refused(saved, damage):
    path, _ = saved
    tensors, metadata = changed(path)
    damage(tensors)
    safetensors.torch.save_file(tensors, path, metadata)
    with pytest.raises(CheckpointError):
        load_tagger(path)


def test_another_file_is_no_tagger(tmp_path):
    path = tmp_path / "tagger.safetensors"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(NotACheckpoint):
        load_tagger(path)
