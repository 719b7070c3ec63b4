"""The decoding graph: the words that the first pass searches, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.models.config import MAX_BEAM, MAX_LM_WEIGHT, MIN_BEAM
from earshot.streaming.errors import UnusableGraph
from earshot.streaming.graph_config import MAX_ACTIVE, MAX_LM_CACHE_MB
from earshot.streaming.parts.letters import LETTERS
from earshot.streaming.parts.option import Option
from earshot.streaming.parts.part import Part
from earshot.streaming.words.graph_fit import UnitKind

if TYPE_CHECKING:
    from earshot.decoder_kernels.graph.graph import Graph
    from earshot.streaming.parts.model_parts import ModelParts
    from earshot.streaming.words.graph_words import GraphWords


@dataclass(frozen=True)
class GraphDescription:
    """topology: which CTC rule holds. units: what words are spelled in.

    new_words: whether requests may bring words along.
    """

    topology: str
    units: UnitKind
    words: int
    nodes: int
    arcs: int
    new_words: bool


def _load(path: Path, device: str) -> Graph:
    """Raises UnusableGraph for a file that is none."""
    from earshot.decoder_kernels.errors import GraphError
    from earshot.decoder_kernels.graph.graph_file import read_graph
    from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies

    try:
        return read_graph(path, UnpackedCopies.of_user())
    except GraphError as error:
        raise UnusableGraph(str(error)) from error


def _fit(graph: Graph, parts: ModelParts) -> GraphWords:
    from earshot.streaming.words.fitted_words import words_of

    return words_of(graph, parts.model, lambda: parts.get(LETTERS))


def _describe(words: GraphWords) -> GraphDescription:
    graph = words.graph
    return GraphDescription(
        topology=graph.topology,
        units=words.units,
        words=len(graph.word_texts) - 1,
        nodes=graph.num_nodes,
        arcs=graph.num_arcs,
        new_words=words.takes_words,
    )


GRAPH: Part[GraphWords] = Part(
    name="graph",
    title="decoding graph",
    file="lm.graph.xz",
    help="compiled decoding graph, or none; the model's own if absent, if it has one",
    unset="is a setting of the graph search, and there is no graph",
    load=_load,
    fit=_fit,
    describe=_describe,
    settings=(
        Option(
            "lm_weight", "number", ("graph_search", "lm_weight"), low=0, high=MAX_LM_WEIGHT,
            help="weight of the graph's costs where a request names none",
        ),
        Option(
            "graph_beam", "number", ("graph_search", "beam"), low=MIN_BEAM, high=MAX_BEAM,
            help="beam of the graph search where a request names none",
        ),
        Option(
            "max_active", "integer", ("graph_search", "max_active"), low=1, high=MAX_ACTIVE,
            default=1000, help="tokens of a graph search per frame, at most",
        ),
        Option(
            "lm_in_search", "boolean", ("graph_search", "lm_in_search"), default=False,
            help="have the search itself ask language models that requests name",
        ),
        Option(
            "lm_cache_mb", "integer", ("graph_search", "lm_cache_mb"), low=0, high=MAX_LM_CACHE_MB,
            default=24, help="of a GPU's memory, for what such a search has looked up",
        ),
    ),
    parameters=(
        Option("lm", "models", ("graph", "lm")),
        Option("lm_weight", "number", ("graph", "lm_weight"), low=0, high=MAX_LM_WEIGHT),
        Option("beam", "number", ("graph", "beam"), low=MIN_BEAM, high=MAX_BEAM),
        Option(
            "max_active", "integer", ("graph", "max_active"), low=1, high=MAX_ACTIVE, capped=True
        ),
    ),
)  # fmt: skip
