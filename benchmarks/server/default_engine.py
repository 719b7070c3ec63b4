"""One engine as a server with all defaults has it: the bundled model with its parts."""

from pathlib import Path

from earshot.streaming.assembly.devices import DeviceChoice
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_stats import Observer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.parts.resolver import find_parts


def default_engine(
    model: Path | None,
    config: EngineConfig,
    observer: Observer | None = None,
    device: DeviceChoice = "cpu",
) -> Engine:
    """Not yet started. A model of one's own goes without parts."""
    parts = find_parts() if model is None else {}
    return build_engine(model, parts, config, device=device, observer=observer)
