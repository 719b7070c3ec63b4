"""A U2 model with its parts as a recogniser."""

from dataclasses import replace

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.u2.two_pass import TwoPass


def build_u2(loaded: LoadedModel, config: EngineConfig, parts: ModelParts) -> TwoPass:
    """With a decoding graph, streams are searched in it unless they ask for another search.

    Parts that rank hypotheses follow the second pass, then those that change words. Raises as
    `build_recognizer` says.
    """
    graph_search = config.graph_search.of(u2_of(loaded).config.decoding)
    return TwoPass(loaded, replace(config, graph_search=graph_search), parts)
