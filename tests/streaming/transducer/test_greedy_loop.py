"""Where a transducer is walked greedily, by where its model is and what was asked."""

from __future__ import annotations

from copy import deepcopy
from typing import get_args

import pytest
import torch
from emulator import Emulator
from random_nemo import random_nemo

from earshot.decoder_kernels.errors import BackendMissing
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.transducer.device_loop_config import LoopMode
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.transducer.greedy_loop import device_loop_of
from earshot.streaming.transducer.options import LoopChoice


def head_on(device: torch.device | str) -> Transducer:
    model = random_nemo("chunks, rnnt").model
    assert isinstance(model, FastConformerModel)
    assert model.transducer is not None
    return deepcopy(model.transducer).to(device)


def asked(loop: str) -> EngineConfig:
    return EngineConfig(max_streams=2, max_batch=3, options={"transducer_loop": loop})


@pytest.mark.parametrize("config", [EngineConfig(), asked("auto"), asked("cpu")])
def test_a_model_on_the_cpu_is_walked_there(config: EngineConfig) -> None:
    assert device_loop_of(head_on("cpu"), config) is None


@pytest.mark.parametrize("mode", list(LoopMode))
def test_a_gpus_loop_is_refused_where_there_is_none(mode: LoopMode) -> None:
    with pytest.raises(InvalidEngineConfig, match=f"transducer_loop is {mode.value}: the model is"):
        device_loop_of(head_on("cpu"), asked(mode.value))


def test_an_unknown_loop_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidEngineConfig, match="transducer_loop is 'gpu', none of auto, cpu"):
        build_recognizer(random_nemo("chunks, rnnt"), asked("gpu"))


def test_a_model_without_a_transducer_has_no_loop() -> None:
    with pytest.raises(InvalidEngineConfig, match="transducer_loop: this model has no transducer"):
        build_recognizer(random_nemo("windows, ctc"), asked("cpu"))


def test_a_model_on_another_device_may_be_walked_on_the_cpu(emulated: torch.device) -> None:
    assert device_loop_of(head_on(emulated), asked("cpu")) is None


def test_kernels_that_are_missing_are_no_reason_to_walk_elsewhere(monkeypatch, emulated) -> None:
    monkeypatch.delattr(kernels, emulated.type)
    with pytest.raises(BackendMissing, match="the native kernels have no half for 'emulated'"):
        device_loop_of(head_on(emulated), asked("auto"))


def test_the_choices_are_the_modes_of_a_gpu_and_two_more() -> None:
    assert get_args(LoopChoice) == ("auto", "cpu", *(mode.value for mode in LoopMode))


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("loop", "mode"), [("auto", LoopMode.KERNEL), *((mode.value, mode) for mode in LoopMode)]
)
def test_a_model_on_a_gpu_is_walked_there(emulator: Emulator, loop: str, mode: LoopMode) -> None:
    found = device_loop_of(head_on(emulator.device), asked(loop))
    assert found is not None
    assert (found.config.mode, found.config.max_lanes) == (mode, 3)
