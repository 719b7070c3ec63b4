"""Model families: how each becomes a recogniser. A new one registers itself here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from earshot.decoder_kernels.graph.graph import Graph
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.u2.build import build_u2


@dataclass(frozen=True)
class LanguageModels:
    """What an engine may be given besides its model: a decoding graph, a neural language model."""

    graph: Graph | None = None
    sentences: SentenceScorer | None = None


Build: TypeAlias = Callable[[LoadedModel, EngineConfig, LanguageModels], Recognizer]

FAMILIES: dict[str, Build] = {
    "u2": lambda loaded, config, lms: build_u2(loaded, config, lms.graph, lms.sentences)
}
"""By `LoadedModel.family`."""


def build_recognizer(
    loaded: LoadedModel, config: EngineConfig, language_models: LanguageModels
) -> Recognizer:
    """The recogniser of a model. Raises InvalidEngineConfig for a family that nobody registered.

    And what the family raises: NotStreamable for a model that was not trained in chunks,
    UnusableGraph for a graph of other units, KernelError where the sizes asked for make no search.
    """
    build = FAMILIES.get(loaded.family)
    if build is None:
        known = ", ".join(sorted(FAMILIES))
        raise InvalidEngineConfig(f"models of the family {loaded.family!r} are none of {known}")
    return build(loaded, config, language_models)
