"""All parts that a model may have. A new one is a row here, and a file beside this one."""

from collections.abc import Mapping
from typing import Any

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.letters import LETTERS
from earshot.streaming.parts.neural_lm import NEURAL_LM
from earshot.streaming.parts.option import Option, by_field
from earshot.streaming.parts.part import Part
from earshot.streaming.parts.tagger import TAGGER
from earshot.streaming.parts.transducer_lm import TRANSDUCER_LM
from earshot.streaming.parts.turns import TURNS
from earshot.streaming.stream_config import StreamConfig

PARTS: dict[str, Part[Any]] = {
    part.name: part for part in (LETTERS, GRAPH, NEURAL_LM, TURNS, TAGGER, TRANSDUCER_LM)
}
"""By name; a part stands after those that it needs."""


def chosen_parts() -> list[Part[Any]]:
    """The parts whose files an operator may name."""
    return [part for part in PARTS.values() if part.help is not None]


def part_settings() -> list[Option]:
    """Options of parts that operators may set; weights first."""
    options = [option for part in PARTS.values() for option in part.settings]
    return sorted(options, key=lambda option: not option.name.endswith("_weight"))


def part_parameters() -> list[Option]:
    """Options of parts that requests may set."""
    return [parameter for part in PARTS.values() for parameter in part.parameters]


def engine_fields(values: Mapping[str, object]) -> dict[str, Any]:
    """The fields of `EngineConfig` for operators' settings by name; None was not set."""
    found = by_field(part_settings(), values)
    return {
        "graph_search": GraphSearchConfig(**found["graph_search"]),
        "weights": found["weights"],
        "parts": found["parts"],
    }


def stream_fields(values: Mapping[str, object]) -> dict[str, Any]:
    """The fields of `StreamConfig` for a request's parameters by name; None was not named.

    Raises InvalidStreamConfig out of their ranges.
    """
    found = by_field(part_parameters(), values)
    return {
        "graph": GraphOptions(**found["graph"]),
        "weights": found["weights"],
        "parts": found["parts"],
    }


def check_parameters(config: StreamConfig, search: str, present: frozenset[str]) -> None:
    """Raises InvalidStreamConfig where a stream asks something of parts that they cannot do.

    search: the stream's. present: names of the parts that the engine has.
    """
    known = {option.into[1]: option for option in part_parameters() if option.into[0] == "parts"}
    for name, value in config.parts.items():
        if name not in known:
            raise InvalidStreamConfig(f"{name}: no part of a model is asked that")
        known[name].check(value)
    for part in PARTS.values():
        for name in part.named_in(config):
            if part.name not in present:
                raise InvalidStreamConfig(f"{name}: there is no {part.title} here")
            if part.check is not None:
                part.check(name, config, search)
