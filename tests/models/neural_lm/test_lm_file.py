"""What was saved is loaded; what is broken is refused by name."""

import json

import pytest
import safetensors.torch
import torch

from earshot.models.errors import CheckpointError, NotACheckpoint
from earshot.models.neural_lm.lm_file import TOKENIZER, load_neural_lm, save_neural_lm

TEXT = [[["the", "dog", "sat"], ["the", "dog", "saw"]]]


@pytest.fixture
def path(tmp_path, network, tokenizer_bytes):
    path = tmp_path / "neural_lm.safetensors"
    save_neural_lm(path, network, tokenizer_bytes, torch.float32)
    return path


def changed(path, metadata=None, **tensors) -> None:
    """The file with other tensors, None for none, and other metadata."""
    with safetensors.safe_open(path, framework="pt") as file:
        told = file.metadata()
    kept = {**safetensors.torch.load_file(path), **tensors}
    kept = {name: tensor for name, tensor in kept.items() if tensor is not None}
    safetensors.torch.save_file(kept, path, {**told, **(metadata or {})})


def test_what_was_saved_scores_as_it_did(path, network, tokenizer):
    from earshot.models.neural_lm.sentence_scorer import SentenceScorer

    [[first, second]] = load_neural_lm(path).score(TEXT)
    [[wanted, also]] = SentenceScorer(network, tokenizer).score(TEXT)
    assert first.words == pytest.approx(wanted.words, abs=1e-5)
    assert second.end == pytest.approx(also.end, abs=1e-5)


def test_half_precision_scores_nearly_as_it_did(path, network, tokenizer_bytes):
    [[exact, _]] = load_neural_lm(path).score(TEXT)
    save_neural_lm(path, network, tokenizer_bytes)
    [[rounded, _]] = load_neural_lm(path).score(TEXT)
    assert rounded.words == pytest.approx(exact.words, abs=0.05)


@pytest.mark.parametrize("content", [b"", b"no weights", b"\xff" * 100])
def test_what_is_no_safetensors_file_is_refused(tmp_path, content):
    (tmp_path / "some").write_bytes(content)
    with pytest.raises(NotACheckpoint, match="not a safetensors file"):
        load_neural_lm(tmp_path / "some")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(NotACheckpoint):
        load_neural_lm(tmp_path / "none")


def test_a_file_cut_short_is_refused(path):
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(NotACheckpoint):
        load_neural_lm(path)


def test_weights_of_something_else_are_refused(tmp_path):
    safetensors.torch.save_file({"weight": torch.zeros(3)}, tmp_path / "other")
    with pytest.raises(NotACheckpoint, match="not a neural language model"):
        load_neural_lm(tmp_path / "other")


@pytest.mark.parametrize(
    "sizes",
    ["no json", "[" * 100_000, '{"size": 8, "colour": 3}', '{"size": -8}', "[1, 2]"],
)
def test_sizes_that_make_no_sense_are_refused(path, sizes):
    changed(path, {"network": sizes})
    with pytest.raises(CheckpointError, match="no usable sizes"):
        load_neural_lm(path)


@pytest.mark.parametrize(
    ("tensors", "complaint"),
    [
        ({"bias": None}, "lacks 1 tensor.* bias"),
        ({"more": torch.zeros(2)}, "1 unknown tensor.* more"),
        ({"bias": torch.zeros(25)}, r"bias is \(25,\) in the file"),
        ({"bias": torch.full((24,), float("nan"))}, "bias holds what is no finite number"),
        ({"bias": torch.full((24,), 1e300, dtype=torch.float64)}, "bias holds what is no finite"),
        ({"bias": torch.zeros(24).to(torch.float8_e4m3fn)}, "bias holds torch.float8_e4m3fn"),
        ({"bias": torch.zeros(24, dtype=torch.int32)}, "bias holds torch.int32"),
        ({"bias": torch.zeros(24, dtype=torch.complex64)}, "bias holds torch.complex64"),
        ({"bias": torch.zeros(24, dtype=torch.bool)}, "bias holds torch.bool"),
    ],
)
def test_weights_that_do_not_fit_are_refused(path, tensors, complaint):
    changed(path, **tensors)
    with pytest.raises(CheckpointError, match=rf"neural_lm\.safetensors .*{complaint}"):
        load_neural_lm(path)


def test_huge_sizes_take_no_memory_before_they_are_refused(path):
    sizes = {"vocab_size": 24, "size": 65536, "heads": 1, "blocks": 64, "feed_forward": 65536}
    changed(path, {"network": json.dumps(sizes)})
    with pytest.raises(CheckpointError, match="lacks 744 tensor"):
        load_neural_lm(path)


@pytest.mark.parametrize(
    "tokenizer",
    [
        torch.zeros(50, dtype=torch.uint8),
        torch.zeros(0, dtype=torch.uint8),
        torch.zeros(50),
        torch.zeros(5, 5, dtype=torch.uint8),
    ],
)
def test_tokens_that_are_none_are_refused(path, tokenizer):
    changed(path, **{TOKENIZER: tokenizer})
    with pytest.raises(CheckpointError, match="token"):
        load_neural_lm(path)


def test_tokens_of_another_number_are_refused(path):
    sizes = {"vocab_size": 25, "size": 8, "heads": 2, "blocks": 2, "feed_forward": 16}
    changed(path, {"network": json.dumps(sizes)})
    with pytest.raises(CheckpointError, match="24 tokens for 25 places"):
        load_neural_lm(path)
