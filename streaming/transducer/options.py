"""What an engine may be asked for a transducer's sake, with the ranges; for every family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.parts.option import Choice, Option
from earshot.streaming.parts.transducer_lm import TRANSDUCER_LM

if TYPE_CHECKING:  # without torch: settings read the options
    from earshot.streaming.parts.model_parts import ModelParts

USUAL_BEAM = 4
"""Hypotheses of a transducer's stream, where nobody says."""

MOST_BEAM = 64

LoopChoice: TypeAlias = Literal["auto", "cpu", "kernel", "full_graph", "no_graphs"]
"""Where and how a transducer is decoded greedily; "auto" is the GPU that the model is on."""

TRANSDUCER_OPTIONS = (
    Option("transducer_beam", "integer", ("options", "transducer_beam"), low=1, high=MOST_BEAM),
    Choice("transducer_loop", get_args(LoopChoice)),
)


def transducer_beam(config: EngineConfig) -> int:
    """Hypotheses of a beam."""
    width = config.options.get("transducer_beam", USUAL_BEAM)
    assert isinstance(width, int)
    return width


def refuse_transducer(config: EngineConfig, parts: ModelParts) -> None:
    """Raises InvalidEngineConfig for what only a transducer has a place for; of a model without."""
    for option in TRANSDUCER_OPTIONS:
        if option.name in config.options:
            raise InvalidEngineConfig(f"{option.name}: this model has no transducer")
    if TRANSDUCER_LM.name in parts.names:
        raise InvalidEngineConfig(f"a {TRANSDUCER_LM.title}: this model has no transducer")
