"""How the service gets an engine: from a directory and a device's name, without naming torch."""

from pathlib import Path
from typing import Literal, TypeAlias

import torch

from earshot.decoder_kernels.errors import GraphError, KernelError
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_image import read_image
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.neural_lm.lm_file import load_neural_lm
from earshot.streaming.assembly.families import LanguageModels, build_recognizer
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_stats import Observer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, UnusableGraph

DeviceChoice: TypeAlias = Literal["auto", "cpu", "cuda"]


def build_engine(
    model_dir: Path | None,
    device: DeviceChoice,
    config: EngineConfig,
    observer: Observer | None = None,
    graph: Path | None = None,
    neural_lm: Path | None = None,
) -> Engine:
    """An engine, not yet started, for a model directory or else the bundled model.

    graph: the image of a decoding graph. neural_lm: the file of a neural language model. Raises
    ModelError for a directory without a streaming model or another file, UnusableGraph for an image
    that is none or not this model's, InvalidEngineConfig for a device that is not there or that the
    native kernels were not built for, and for more streams, or larger ones, than memory holds.
    """
    try:
        # The graph first: it tells at once what a model takes long to load.
        image = None if graph is None else _read(graph)
        sentences = None if neural_lm is None else load_neural_lm(neural_lm, _device(device))
        loaded = load_model(model_dir or bundled_model_dir(), _device(device))
        recognizer = build_recognizer(loaded, config, LanguageModels(image, sentences))
        return Engine(recognizer, config, observer)
    except KernelError as error:
        raise InvalidEngineConfig(str(error)) from error
    except (MemoryError, RuntimeError) as error:
        if not _tells_of_memory(error):
            raise
        raise InvalidEngineConfig(
            f"there is not enough memory for {config.max_streams} streams of this size"
        ) from error


def _tells_of_memory(error: Exception) -> bool:
    """Torch has a class of its own for want of a GPU's memory, and none for want of the CPU's."""
    of_torch = isinstance(error, torch.OutOfMemoryError) or "allocate" in str(error)
    return isinstance(error, MemoryError) or of_torch


def _read(path: Path) -> Graph:
    try:
        return read_image(path)
    except GraphError as error:
        raise UnusableGraph(str(error)) from error


def _device(choice: DeviceChoice) -> torch.device:
    if choice == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if choice == "cuda" and not torch.cuda.is_available():
        raise InvalidEngineConfig("device cuda: torch finds no CUDA device")
    return torch.device(choice)
