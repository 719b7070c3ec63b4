"""Layers of a large model are in memory one at a time, as they were read, while they are packed."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from nemo_writer import options, weights, write_archive
from tiny_models import TINY_ENCODERS, TINY_TOKENIZER, make_tiny_model
from torch import nn
from written_model import TOKENS

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.config import FeatureConfig
from earshot.models.errors import NotACheckpoint
from earshot.models.native import given_up
from earshot.models.native.late_weights import bring_weights
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.models.whisper_tokenizer.tokenizer import read_whisper_tokenizer
from earshot.streaming.assembly import engine_factory
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine_config import EngineConfig

LAYERS = 3


@pytest.fixture
def archive(tmp_path):
    values = options("EncDecCTCModel", encoder__n_layers=LAYERS)
    return write_archive(tmp_path / "tiny.nemo", values, tensors=weights(values))


@pytest.fixture
def listening(tmp_path) -> Path:
    """A model of our own, int8 a row, whose Whisper decoder was taught with windows."""
    made = make_tiny_model(**TINY_ENCODERS["whisper"]).config
    writer = read_whisper_tokenizer(TOKENS)
    decoder = WhisperDecoderConfig(
        vocab_size=writer.first_timestamp, positions=448, size=made.encoder.encoded_size,
        attention_heads=2, num_blocks=LAYERS, prompt=tuple(writer.prompt()),
        end=writer.end_of_text, window_frames=20,
    )  # fmt: skip
    config = replace(made, decoder=decoder, features=FeatureConfig(kind="whisper"))
    place = tmp_path / "listening"
    save_model(place, U2Model(config), TINY_TOKENIZER, "tiny", torch.int8, writer=writer)
    return place


def in_memory(layers: list[nn.Module]) -> list[bool]:
    return [not any(each.is_meta for each in layer.parameters()) for layer in layers]


def test_a_layer_comes_when_the_one_before_it_is_packed(archive, monkeypatch) -> None:
    brought: list[nn.Module] = []

    def noting(layer: nn.Module) -> None:
        brought.append(layer)
        assert not any(in_memory(brought))
        bring_weights(layer)
        assert in_memory(brought) == [False] * (len(brought) - 1) + [True]

    monkeypatch.setattr(given_up, "bring_weights", noting)
    build_engine(archive, {}, EngineConfig(max_streams=1), device="cpu")
    assert len(brought) == LAYERS
    assert not any(in_memory(brought))


def test_a_writing_decoders_blocks_and_rows_come_one_by_one(listening, monkeypatch) -> None:
    brought: list[nn.Module] = []

    def noting(layer: nn.Module) -> None:
        bring_weights(layer)
        brought.append(layer)
        assert in_memory(brought[:-1]) == [False] * (len(brought) - 1)

    monkeypatch.setattr(given_up, "bring_weights", noting)
    build_engine(listening, {}, EngineConfig(max_streams=1), device="cpu")
    encoder_blocks = 2
    assert len(brought) == LAYERS + 1 + encoder_blocks
    assert not any(in_memory(brought))


def test_blocks_wait_in_a_file_of_ours_until_somebody_packs_them(listening) -> None:
    late, whole = (load_model(listening, late=each).model for each in (True, False))
    waiting = [*late.encoder.layers, *late.decoder.layers, late.decoder.token_embedding]
    assert not any(in_memory(waiting))
    for layer in waiting:
        bring_weights(layer)
    for name, found in late.state_dict().items():
        assert torch.equal(found, whole.state_dict()[name]), name


def test_an_archive_that_is_cut_while_layers_are_packed_is_a_named_error(
    archive, monkeypatch
) -> None:
    def cutting(layer: nn.Module) -> None:
        archive.write_bytes(b"")
        bring_weights(layer)

    monkeypatch.setattr(given_up, "bring_weights", cutting)
    with pytest.raises(NotACheckpoint, match=r"tiny\.nemo: model_weights\.ckpt has become shorter"):
        build_engine(archive, {}, EngineConfig(max_streams=1), device="cpu")


def test_the_network_is_gone_when_freed_memory_is_given_back(archive, monkeypatch) -> None:
    networks: list[weakref.ref[nn.Module]] = []
    left: list[bool] = []

    def noting(*args, **kwargs):
        loaded = load_model(*args, **kwargs)
        networks.append(weakref.ref(loaded.model))
        return loaded

    def give_back() -> None:
        gc.collect()
        left.extend(network() is not None for network in networks)

    monkeypatch.setattr(engine_factory, "load_model", noting)
    monkeypatch.setattr(engine_factory, "return_freed_memory", give_back)
    build_engine(archive, {}, EngineConfig(max_streams=1), device="cpu")
    assert left == [False]
