"""Layers of a large model are in memory one at a time, as they were read, while they are packed."""

from __future__ import annotations

import gc
import weakref

import pytest
from nemo_writer import options, weights, write_archive
from torch import nn

from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import NotACheckpoint
from earshot.models.native import given_up
from earshot.models.native.late_weights import bring_weights
from earshot.streaming.assembly import engine_factory
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine_config import EngineConfig

LAYERS = 3


@pytest.fixture
def archive(tmp_path):
    values = options("EncDecCTCModel", encoder__n_layers=LAYERS)
    return write_archive(tmp_path / "tiny.nemo", values, tensors=weights(values))


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
