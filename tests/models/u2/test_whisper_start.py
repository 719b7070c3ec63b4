"""Weights of Whisper in our encoder: its frames, and checkpoints of another network."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from earshot.models.errors import CheckpointError, MissingKeys, ShapeMismatch, UnknownKeys
from earshot.models.layers.positional import whisper_positions
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.whisper_start import start_from_whisper, whisper_encoder_config

SILENCE_FRAMES = 3_001
"""30 s, and the frame of zeros that Whisper pads with."""


@dataclass(frozen=True)
class Dims:
    mels: int = 80
    audio_size: int = 16
    audio_heads: int = 2
    audio_blocks: int = 2


@dataclass(frozen=True)
class Checkpoint:
    tensors: dict[str, Tensor]


SMALL = Dims()
PUBLISHED = {"tiny.en": Dims(80, 384, 6, 4), "base": Dims(80, 512, 8, 6)}


def random_whisper(dims: Dims = SMALL) -> dict[str, Tensor]:
    """Weights under OpenAI's names, written down apart from the code under test."""
    size, hidden = dims.audio_size, 4 * dims.audio_size
    shapes: dict[str, tuple[int, ...]] = {"conv1": (size, dims.mels, 3), "conv2": (size, size, 3)}
    for block in range(dims.audio_blocks):
        own = {"attn.query": (size, size), "attn.key": (size, size), "attn.value": (size, size),
               "attn.out": (size, size), "attn_ln": (size,), "mlp.0": (hidden, size),
               "mlp.2": (size, hidden), "mlp_ln": (size,)}  # fmt: skip
        shapes |= {f"blocks.{block}.{name}": shape for name, shape in own.items()}
    shapes["ln_post"] = (size,)
    torch.manual_seed(0)
    tensors = {f"encoder.{name}.weight": torch.randn(shape) for name, shape in shapes.items()}
    tensors |= {
        f"encoder.{name}.bias": torch.randn(shape[0])
        for name, shape in shapes.items()
        if not name.endswith("attn.key")
    }
    tensors["encoder.positional_embedding"] = whisper_positions(torch.arange(50), size)
    return tensors


def small_encoder(**options: int) -> Encoder:
    torch.manual_seed(1)
    return Encoder(whisper_encoder_config(SMALL, **options)).eval()


@pytest.mark.parametrize(("name", "most", "mean"), [("tiny.en", 1e-4, 1e-5), ("base", 1e-3, 1e-5)])
@torch.no_grad()
def test_published_weights_give_whispers_frames(shared_dir: Path, name, most, mean):
    folder = shared_dir / "whisper"
    if not folder.exists():
        pytest.skip(f"shared data is missing: {folder}")
    encoder = Encoder(whisper_encoder_config(PUBLISHED[name])).eval()
    weights = load_file(folder / f"{name}-encoder.safetensors")
    start_from_whisper(encoder, Checkpoint({key: each.float() for key, each in weights.items()}))
    with np.load(folder / "golden.npz") as arrays:
        mel, expected = torch.from_numpy(arrays["log_mel"]).T, arrays[f"{name}.encoder"]
    feats = torch.full((1, SILENCE_FRAMES, 80), float(mel.min()))
    feats[0, : len(mel)], feats[0, -1] = mel, 0.0
    found, _ = encoder(feats, torch.tensor([SILENCE_FRAMES]))
    apart = np.abs(found[0, : len(expected)].numpy() - expected)
    assert apart.max() < most
    assert apart.mean() < mean


def as_published(tensors: dict[str, Tensor], feats: Tensor, dims: Dims = SMALL) -> Tensor:
    """An encoder written out over OpenAI's names: frames (T', D) of features (T, F)."""

    def layer(name: str, x: Tensor) -> Tensor:
        return functional.linear(x, tensors[f"{name}.weight"], tensors.get(f"{name}.bias"))

    def norm(name: str, x: Tensor) -> Tensor:
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        return functional.layer_norm(x, (x.size(-1),), weight, bias)

    x = feats.T
    for name, stride in (("encoder.conv1", 1), ("encoder.conv2", 2)):
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        x = functional.gelu(functional.conv1d(x, weight, bias, stride=stride, padding=1))
    x = x.T[: (len(feats) - 1) // 2]
    x = x + tensors["encoder.positional_embedding"][: len(x)]
    for number in range(dims.audio_blocks):
        block = f"encoder.blocks.{number}"
        y = norm(f"{block}.attn_ln", x)
        query, key, value = (
            layer(f"{block}.attn.{name}", y).unflatten(1, (dims.audio_heads, -1)).transpose(0, 1)
            for name in ("query", "key", "value")
        )
        scores = query @ key.mT / query.size(2) ** 0.5
        mixed = (scores.softmax(dim=2) @ value).transpose(0, 1).flatten(1)
        x = x + layer(f"{block}.attn.out", mixed)
        hidden = functional.gelu(layer(f"{block}.mlp.0", norm(f"{block}.mlp_ln", x)))
        x = x + layer(f"{block}.mlp.2", hidden)
    return norm("encoder.ln_post", x)


@torch.no_grad()
def test_each_weight_has_its_place(assert_same):
    tensors, feats, encoder = random_whisper(), torch.randn(40, 80), small_encoder()
    start_from_whisper(encoder, Checkpoint(tensors))
    found, _ = encoder(feats[None], torch.tensor([40]))
    assert_same(found[0], as_published(tensors, feats), rtol=1e-5)
    assert not any(layer.self_attn.linear_k.bias.any() for layer in encoder.layers)


@pytest.mark.parametrize("options", [{}, {"pool_after_block": 1, "narrow": 6}])
@torch.no_grad()
def test_every_weight_is_taken(options):
    """An encoder's frames depend on each of a checkpoint's tensors."""
    tensors, feats, lengths = random_whisper(), torch.randn(1, 40, 80), torch.tensor([40])
    encoder = small_encoder(**options)
    start_from_whisper(encoder, Checkpoint(tensors))
    frames, _ = encoder(feats, lengths)
    for name in tensors.keys() - {"encoder.positional_embedding"}:
        changed = {**tensors, name: tensors[name] + torch.randn_like(tensors[name])}
        start_from_whisper(encoder, Checkpoint(changed))
        assert not torch.allclose(encoder(feats, lengths)[0], frames), name
    start_from_whisper(encoder, Checkpoint(tensors))
    assert torch.equal(encoder(feats, lengths)[0], frames)


def test_the_narrow_layer_keeps_its_weights_and_features_stay_as_they_are():
    encoder = small_encoder(narrow=6)
    before = encoder.narrow.weight.clone()
    encoder.global_cmvn.mean.fill_(3.0)
    start_from_whisper(encoder, Checkpoint(random_whisper()))
    assert torch.equal(encoder.narrow.weight, before)
    feats = torch.randn(2, 80)
    assert torch.equal(encoder.global_cmvn(feats), feats)


def test_a_decoders_tensors_may_be_there():
    tensors = {**random_whisper(), "decoder.ln.weight": torch.ones(16)}
    start_from_whisper(small_encoder(), Checkpoint(tensors))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"encoder.conv1.bias": None}, MissingKeys, "encoder.conv1.bias"),
        ({"encoder.positional_embedding": None}, MissingKeys, "positional_embedding"),
        ({"encoder.blocks.2.attn.key.weight": torch.ones(16, 16)}, UnknownKeys, r"blocks\.2"),
        ({"encoder.blocks.0.attn.key.bias": torch.ones(16)}, UnknownKeys, "key.bias"),
        ({"encoder.ln_post.bias": torch.ones(17)}, ShapeMismatch, "encoder.ln_post.bias"),
        ({"encoder.positional_embedding": torch.zeros(5, 17)}, ShapeMismatch, "positional"),
        ({"encoder.positional_embedding": torch.zeros(5, 16)}, CheckpointError, "other positions"),
    ],
)
def test_weights_of_another_network_are_refused_by_name(change, error, message):
    tensors = {**random_whisper(), **change}
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    with pytest.raises(error, match=message):
        start_from_whisper(small_encoder(), Checkpoint(given))


def test_any_field_of_the_encoder_may_be_chosen():
    config = whisper_encoder_config(SMALL, 0, 8, dropout_rate=0.0, num_blocks=1)
    assert (config.pool_after_block, config.narrow, config.dropout_rate) == (0, 8, 0.0)
    assert (config.num_blocks, config.linear_units, config.encoded_size) == (1, 64, 8)
