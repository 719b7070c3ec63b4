"""The precision that was asked for reaches all linear layers of an encoder, and is told."""

from __future__ import annotations

import copy

import pytest
from random_nemo import random_nemo

from earshot.models.fastconformer.steps import native_layers, native_stem
from earshot.models.native import weights
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.fastconformer.encoder_precision import encoder_precision

KINDS = ("chunks, tdt and ctc", "windows, rnnt and ctc")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The precisions of all layers that are packed."""
    found: list[str] = []
    own = weights.rows_weights

    def rows_weights(weight, bias, precision="float32"):
        found.append(precision)
        return own(weight, bias, precision)

    for user in (weights, native_layers, native_stem):
        monkeypatch.setattr(user, "rows_weights", rows_weights)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", ["auto", "float32", "bfloat16", "int8", "w8a8"])
def test_all_layers_but_the_stems_first_are_built_as_asked(built, kind, asked) -> None:
    recognizer = build_recognizer(random_nemo(kind), EngineConfig(max_streams=1, precision=asked))
    told = "float32" if asked == "auto" else asked
    assert recognizer.model.precision == told
    assert built.count(told) >= len(built) - 1 > 20
    assert set(built) == {told, "float32"}


@pytest.mark.parametrize("asked", ["bfloat16", "int8", "w8a8"])
def test_fewer_bits_are_refused_where_torch_runs_the_encoder(asked) -> None:
    encoder = copy.deepcopy(random_nemo(KINDS[0]).model.encoder).double()
    assert encoder_precision(encoder, "auto") == encoder_precision(encoder, "float32") == "float32"
    with pytest.raises(InvalidEngineConfig, match="run by torch here"):
        encoder_precision(encoder, asked)
