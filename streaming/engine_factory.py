"""How the service gets an engine: from a directory and a device's name, without naming torch."""

from pathlib import Path
from typing import Literal, TypeAlias

import torch

from decoder_kernels.errors import KernelError
from models.bundled import bundled_model_dir
from models.checkpoint import load_model
from streaming.engine import Engine
from streaming.engine_config import EngineConfig
from streaming.engine_stats import Observer
from streaming.errors import InvalidEngineConfig

DeviceChoice: TypeAlias = Literal["auto", "cpu", "cuda"]


def build_engine(
    model_dir: Path | None,
    device: DeviceChoice,
    config: EngineConfig,
    observer: Observer | None = None,
) -> Engine:
    """An engine, not yet started, for a model directory or else the bundled model.

    Raises ModelError for a directory without a streaming model, InvalidEngineConfig for a device
    that is not there or that the native kernels were not built for.
    """
    loaded = load_model(model_dir or bundled_model_dir(), _device(device))
    try:
        return Engine(loaded, config, observer)
    except KernelError as error:
        raise InvalidEngineConfig(str(error)) from error


def _device(choice: DeviceChoice) -> torch.device:
    if choice == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if choice == "cuda" and not torch.cuda.is_available():
        raise InvalidEngineConfig("device cuda: torch finds no CUDA device")
    return torch.device(choice)
