"""Which search a stream gets: what its mode and its wishes mean on an engine."""

from typing import Literal, TypeAlias

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.lm_mix import LmMix, show_lm
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.stream_config import StreamConfig

SearchKind: TypeAlias = Literal["greedy", "prefix", "graph", "transducer", "transducer_beam"]
"""How the first pass searches a stream."""


def choose_search(config: StreamConfig, graph: GraphSearchConfig | None) -> SearchKind:
    """The stream's search on an engine with a graph, or with None.

    Raises InvalidStreamConfig for wishes that contradict each other, or that take a graph where
    there is none.
    """
    kind = _by_mode(config, graph is not None)
    check_graph_wishes(config, graph, why=None if kind == "graph" else why_none(config))
    return kind


def check_graph_wishes(
    config: StreamConfig, graph: GraphSearchConfig | None, why: str | None
) -> None:
    """Raises InvalidStreamConfig for wishes that only a graph could grant, and for too many tokens.

    why: no graph is searched; None where one is.
    """
    asked = config.graph
    if why is not None and asked.named:
        names = ", ".join(asked.named)
        raise InvalidStreamConfig(f"{names}: no decoding graph is searched, {why}")
    if why is not None and asked.lm:
        named = "models by name count where a decoding graph is searched alone, and "
        given = named if isinstance(asked.lm, LmMix) else ""
        raise InvalidStreamConfig(f"lm={show_lm(asked.lm)}: {given}{why}")
    if asked.entities and not isinstance(asked.lm, LmMix):
        raise InvalidStreamConfig("entities: lm names no language model, whose classes they are of")
    if graph is not None and (asked.max_active or 0) > graph.max_active:
        raise InvalidStreamConfig(
            f"max_active is {asked.max_active}, at most {graph.max_active} here"
        )


def _by_mode(config: StreamConfig, has_graph: bool) -> SearchKind:
    wanted = config.graph.lm
    match mode_of(config):
        case "ctc_greedy_search":
            return "greedy"
        case "transducer_greedy_search":
            return "transducer"
        case "transducer_beam_search":
            return "transducer_beam"
        case "ctc_wfst_beam_search" if wanted is False:
            raise InvalidStreamConfig("mode ctc_wfst_beam_search contradicts lm=off")
        case "ctc_wfst_beam_search" | "attention_rescoring" if has_graph and wanted is not False:
            return "graph"
        case "ctc_wfst_beam_search":
            raise InvalidStreamConfig("mode ctc_wfst_beam_search: there is no decoding graph here")
        case _:
            return "prefix"


def why_none(config: StreamConfig) -> str:
    """Why no decoding graph is searched."""
    if config.graph.lm is False:
        return "because of lm=off"
    mode = mode_of(config)
    if mode not in ("attention_rescoring", "ctc_wfst_beam_search"):
        return f"mode {mode} uses none"
    return "there is none here"
