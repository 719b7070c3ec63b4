"""What an engine may be asked for a transducer's sake, with the ranges; for every family."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.parts.option import Choice, Option

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


def refuse_transducer_options(config: EngineConfig) -> None:
    """Raises InvalidEngineConfig for options of a transducer, for a model without one."""
    for option in TRANSDUCER_OPTIONS:
        if option.name in config.options:
            raise InvalidEngineConfig(f"{option.name}: this model has no transducer")
