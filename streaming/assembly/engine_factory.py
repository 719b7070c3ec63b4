"""How the service gets an engine: from a directory and a device's name, without naming torch."""

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

import torch

from earshot.decoder_kernels.errors import GraphError, KernelError
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.neural_lm.lm_file import load_neural_lm
from earshot.streaming.assembly.families import LanguageModels, build_recognizer
from earshot.streaming.cores import usable_cores
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_stats import Observer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, UnusableGraph
from earshot.streaming.workers.engine_pool import EnginePool

DeviceChoice: TypeAlias = Literal["auto", "cpu", "cuda"]

_CAN_FORK = sys.platform == "linux"


def build_engine(
    model: Path | None,
    device: DeviceChoice,
    config: EngineConfig,
    observer: Observer | None = None,
    graph: Path | None = None,
    neural_lm: Path | None = None,
    engines: int = 1,
) -> Engine | EnginePool:
    """An engine, not yet started, for a model, a directory or a file, or else the bundled one.

    graph: a compiled graph. neural_lm: the file of a neural language model. engines: how many, each
    in a process of its own where there are several. Raises
    ModelError for a path without a streaming model or another file, UnusableGraph for a graph
    that is none or not this model's, InvalidEngineConfig for a device that is not there or that the
    native kernels were not built for, and for more streams, or larger ones, than memory holds.
    """
    own = config if engines == 1 else _share(config, engines, device)
    try:
        # The graph first: it tells at once what a model takes long to load.
        searched = None if graph is None else _read(graph)
        sentences = None if neural_lm is None else load_neural_lm(neural_lm, _device(device))
        loaded = load_model(model or bundled_model_dir(), _device(device))
        recognizer = build_recognizer(loaded, own, LanguageModels(searched, sentences))
        if engines == 1:
            return Engine(recognizer, own, observer)
        return EnginePool(recognizer, own, engines, config.max_streams, observer)
    except KernelError as error:
        raise InvalidEngineConfig(str(error)) from error
    except (MemoryError, RuntimeError) as error:
        if not _tells_of_memory(error):
            raise
        raise InvalidEngineConfig(
            f"there is not enough memory for {config.max_streams} streams of this size"
        ) from error


def default_engines(device: DeviceChoice, threads: int | None) -> int:
    """As many as keep every core busy; one where a process cannot be forked, or a GPU does it."""
    if not _CAN_FORK or _device(device).type != "cpu":
        return 1
    return max(usable_cores() // (threads or 1), 1)


def _share(config: EngineConfig, engines: int, device: DeviceChoice) -> EngineConfig:
    """What one of several engines is built for. Raises InvalidEngineConfig."""
    if not _CAN_FORK or _device(device).type != "cpu":
        raise InvalidEngineConfig(f"{engines} engines: several need Linux, and a model on the CPU")
    if config.max_streams < engines:
        raise InvalidEngineConfig(f"{engines} engines for {config.max_streams} streams")
    torch.set_num_threads(1)  # the threads of a pool that was used would not outlive the fork
    max_streams = math.ceil(config.max_streams / engines)
    return replace(config, max_streams=max_streams, threads=config.threads or 1)


def _tells_of_memory(error: Exception) -> bool:
    """Torch has a class of its own for want of a GPU's memory, and none for want of the CPU's."""
    of_torch = isinstance(error, torch.OutOfMemoryError) or "allocate" in str(error)
    return isinstance(error, MemoryError) or of_torch


def _read(path: Path) -> Graph:
    try:
        return read_graph(path)
    except GraphError as error:
        raise UnusableGraph(str(error)) from error


def _device(choice: DeviceChoice) -> torch.device:
    if choice == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if choice == "cuda" and not torch.cuda.is_available():
        raise InvalidEngineConfig("device cuda: torch finds no CUDA device")
    return torch.device(choice)
