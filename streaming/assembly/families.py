"""Model families: how each becomes a recogniser. A new one registers itself here."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.u2.build import build_u2

Build: TypeAlias = Callable[[LoadedModel, EngineConfig, ModelParts], Recognizer]

FAMILIES: dict[str, Build] = {"u2": build_u2}
"""By `LoadedModel.family`."""


def build_recognizer(
    loaded: LoadedModel, config: EngineConfig, parts: Mapping[str, object] | None = None
) -> Recognizer:
    """The recogniser of a model with its parts, as `read_parts` has read them.

    Raises InvalidEngineConfig for a family that nobody registered, and for a part without the one
    that it needs. And what the family raises: NotStreamable for a model that was not trained in
    chunks, UnusableGraph for a graph of other units, KernelError where the sizes asked for make no
    search.
    """
    build = FAMILIES.get(loaded.family)
    if build is None:
        known = ", ".join(sorted(FAMILIES))
        raise InvalidEngineConfig(f"models of the family {loaded.family!r} are none of {known}")
    return build(loaded, config, ModelParts(loaded, parts or {}, config.parts))
