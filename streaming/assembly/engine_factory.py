"""How the service gets an engine: from a directory and a device's name, without naming torch."""

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from earshot.decoder_kernels.errors import KernelError
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.native.given_up import give_up
from earshot.streaming.assembly.devices import DeviceChoice, device_of
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.assembly.freed_memory import return_freed_memory
from earshot.streaming.cores import usable_cores
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_stats import Observer
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.language_models.searched_lms import check_lm_in_search
from earshot.streaming.parts.model_parts import read_parts
from earshot.streaming.workers.engine_pool import EnginePool

_CAN_FORK = sys.platform == "linux"


def build_engine(
    model: Path | None,
    parts: Mapping[str, Path],
    config: EngineConfig,
    *,
    device: DeviceChoice = "auto",
    observer: Observer | None = None,
) -> Engine:
    """An engine, not yet started, for a model, a directory or a file, or else the bundled one.

    parts: files by the names of `PARTS`; `find_parts` finds those that lie beside the model.

    Raises ModelError for a path without a streaming model or another file, UnusableGraph for a
    graph that is none or not this model's, InvalidEngineConfig for a device that is not there or
    that the native kernels were not built for, and for more streams, or larger ones, than memory
    holds.
    """
    own = _on_all_cores(config, 1, device)
    with _errors_of_size(config):
        return Engine(_recognizer(model, parts, own, device), own, observer)


def build_pool(
    model: Path | None,
    parts: Mapping[str, Path],
    config: EngineConfig,
    engines: int,
    *,
    device: DeviceChoice = "auto",
    observer: Observer | None = None,
) -> EnginePool:
    """Several engines, each in a process of its own, for the streams of `config` together.

    Takes and raises what `build_engine` does.
    """
    own = _share(config, engines, device)
    with _errors_of_size(config):
        recognizer = _recognizer(model, parts, own, device)
        return EnginePool(recognizer, own, engines, config.max_streams, observer)


def default_engines(device: DeviceChoice, threads: int | None) -> int:
    """Engines that keep every core busy; one where no process can be forked, or a GPU does it."""
    if not _CAN_FORK or device_of(device).type != "cpu":
        return 1
    return max(usable_cores() // (threads or 1), 1)


def _recognizer(
    model: Path | None, parts: Mapping[str, Path], config: EngineConfig, device: DeviceChoice
) -> Recognizer:
    recognizer = _built(model, parts, config, device_of(device))
    return_freed_memory()  # what was read of the model is gone by now
    return recognizer


def _built(
    model: Path | None, parts: Mapping[str, Path], config: EngineConfig, place: torch.device
) -> Recognizer:
    # The parts first: they tell at once what a model takes long to load.
    read = read_parts(parts, str(place))
    loaded = load_model(model or bundled_model_dir(), place, late=True)
    give_up(loaded.model)
    recognizer = build_recognizer(loaded, config, read)
    check_lm_in_search(config.graph_search, recognizer.graph)
    return recognizer


@contextmanager
def _errors_of_size(config: EngineConfig) -> Iterator[None]:
    """Sizes that kernels refuse or memory does not hold raise InvalidEngineConfig."""
    try:
        yield
    except KernelError as error:
        raise InvalidEngineConfig(str(error)) from error
    except (MemoryError, RuntimeError) as error:
        if not _tells_of_memory(error):
            raise
        raise InvalidEngineConfig(
            f"there is not enough memory for {config.max_streams} streams of this size"
        ) from error


def _share(config: EngineConfig, engines: int, device: DeviceChoice) -> EngineConfig:
    """The config of one of several engines. Raises InvalidEngineConfig."""
    if not _CAN_FORK or device_of(device).type != "cpu":
        raise InvalidEngineConfig(f"{engines} engines: several need Linux, and a model on the CPU")
    if config.max_streams < engines:
        raise InvalidEngineConfig(f"{engines} engines for {config.max_streams} streams")
    torch.set_num_threads(1)  # the threads of a pool that was used would not outlive the fork
    max_streams = math.ceil(config.max_streams / engines)
    return _on_all_cores(replace(config, max_streams=max_streams), engines, device)


def _on_all_cores(config: EngineConfig, engines: int, device: DeviceChoice) -> EngineConfig:
    """The config of one of some engines, to whom the cores are dealt where no threads are told.

    None stays free for the gateway: threads that share a layer leave theirs to whoever is there.
    """
    if config.threads is not None or device_of(device).type != "cpu":
        return config
    return replace(config, threads=max(usable_cores() // engines, 1))


def _tells_of_memory(error: Exception) -> bool:
    """Torch has a class of its own for want of a GPU's memory, and none for want of the CPU's."""
    of_torch = isinstance(error, torch.OutOfMemoryError) or "allocate" in str(error)
    return isinstance(error, MemoryError) or of_torch
