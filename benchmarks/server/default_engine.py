"""One engine as a server with all defaults has it: the bundled model with its language models."""

from pathlib import Path

from earshot.models.bundled import bundled_model_dir
from earshot.models.neural_lm.lm_file import NEURAL_LM_FILE
from earshot.service.core.engine_setup import OWN_GRAPH
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.engine_stats import Observer
from earshot.streaming.engine_config import EngineConfig


def default_engine(
    model: Path | None, config: EngineConfig, observer: Observer | None = None
) -> Engine:
    """Not yet started. A model of one's own goes without language models."""
    graph = neural_lm = None
    if model is None:
        graph, neural_lm = bundled_model_dir() / OWN_GRAPH, bundled_model_dir() / NEURAL_LM_FILE
    engine = build_engine(model, "cpu", config, observer, graph, neural_lm)
    assert isinstance(engine, Engine)
    return engine
