"""Model families: how each becomes a recogniser. A new one registers itself here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, get_args

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.native.precision import Precision
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.fastconformer.build import build_fastconformer
from earshot.streaming.fastconformer.options import FASTCONFORMER_OPTIONS
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.option import Choice, Option
from earshot.streaming.u2.build import build_u2
from earshot.streaming.u2.options import U2_OPTIONS

Build: TypeAlias = Callable[[LoadedModel, EngineConfig, ModelParts], Recognizer]


@dataclass(frozen=True)
class Family:
    """build: makes the recogniser of a model.

    options: what an engine may be asked for this family's sake, `EngineConfig.family_options`.
    precisions: that an engine may be asked for besides "auto".
    """

    build: Build
    options: tuple[Option | Choice, ...] = ()
    precisions: tuple[Precision, ...] = ("float32",)


FAMILIES: dict[str, Family] = {
    "u2": Family(build_u2, U2_OPTIONS, get_args(Precision)),
    "fastconformer": Family(build_fastconformer, FASTCONFORMER_OPTIONS, get_args(Precision)),
}
"""Families by `LoadedModel.family`."""


def build_recognizer(
    loaded: LoadedModel, config: EngineConfig, parts: Mapping[str, object] | None = None
) -> Recognizer:
    """The recogniser of a model with its parts, as `read_parts` has read them.

    Raises InvalidEngineConfig for a family that nobody registered, for options and a precision that
    the family does not have, and for a part without the one that it needs. The family raises
    NotStreamable for a model that was not trained in chunks, UnusableGraph for a graph of other
    units, KernelError where the sizes asked for make no search.
    """
    family = FAMILIES.get(loaded.family)
    if family is None:
        known = ", ".join(sorted(FAMILIES))
        raise InvalidEngineConfig(
            f"it is a sound model of the family {loaded.family!r}, which cannot be served yet; "
            f"those that can: {known}"
        )
    _check_options(loaded.family, family.options, config.family_options)
    if config.precision not in ("auto", *family.precisions):
        known = ", ".join(family.precisions)
        raise InvalidEngineConfig(
            f"precision is {config.precision}: models of the family {loaded.family!r} have {known}"
        )
    fitted = ModelParts(loaded, parts or {}, config.parts, config.precision)
    return family.build(loaded, config, fitted)


def _check_options(
    name: str, known: tuple[Option | Choice, ...], asked: Mapping[str, object]
) -> None:
    """Raises InvalidEngineConfig for an option that the family does not have, or out of range."""
    options = {option.name: option for option in known}
    for option, value in asked.items():
        if option not in options:
            there_are = ", ".join(options) or "none"
            raise InvalidEngineConfig(
                f"models of the family {name!r} have no option {option}; there are: {there_are}"
            )
        try:
            options[option].check(value)
        except InvalidStreamConfig as error:
            raise InvalidEngineConfig(f"models of the family {name!r}: {error}") from error
