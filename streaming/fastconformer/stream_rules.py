"""Rules for what streams may ask of a NeMo model and its parts."""

from __future__ import annotations

from dataclasses import dataclass

from earshot.models.fastconformer.config import PromptConfig
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.fastconformer.language_prompt import LanguagePrompt
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.parts.table import check_parameters
from earshot.streaming.parts.transducer_lm import TRANSDUCER_LM, without_lm_switch
from earshot.streaming.search.search_choice import check_graph_wishes
from earshot.streaming.stream_config import StreamConfig, check_chunk

TRANSDUCER = "transducer_greedy_search"
TRANSDUCER_BEAM = "transducer_beam_search"

SEARCHES = {
    TRANSDUCER: "transducer",
    TRANSDUCER_BEAM: "transducer_beam",
    "ctc_wfst_beam_search": "graph",
    "ctc_prefix_beam_search": "prefix",
    "ctc_greedy_search": "greedy",
}
"""Searches by the modes of this family's models; the first that a model has is its default."""


def modes_of(*, transducer: bool, ctc: bool, graph: bool) -> tuple[str, ...]:
    """The modes that a model's heads and a decoding graph allow."""
    has = {
        "transducer": transducer,
        "transducer_beam": transducer,
        "graph": ctc and graph,
        "prefix": ctc,
        "greedy": ctc,
    }
    return tuple(mode for mode, search in SEARCHES.items() if has[search])


@dataclass(frozen=True)
class FastConformerRules:
    """See `StreamRules`. modes: of the model, its default first. graph: how one is searched.

    chunks_ms: what `StreamConfig.chunk_ms` may be. prompt: the languages, of a model with a prompt.
    """

    modes: tuple[str, ...]
    graph: GraphSearchConfig | None
    parts: frozenset[str]
    chunks_ms: tuple[float, ...]
    prompt: PromptConfig | None = None

    def choose_search(self, config: StreamConfig) -> str:
        """The mode's search. Raises InvalidStreamConfig for what the model cannot do."""
        search = SEARCHES[self._mode(config)]
        why_none = self._why_no_graph(config, search)
        check_graph_wishes(without_lm_switch(config, self.parts), self.graph, why_none)
        check_chunk(config.chunk_ms, self.chunks_ms)
        check_parameters(config, search, self.parts)
        if others := [f"{name}_weight" for name in config.weights if name != TRANSDUCER_LM.name]:
            names = ", ".join(others)
            raise InvalidStreamConfig(f"{names}: no scorer of this model has a weight")
        if self.prompt is not None:
            LanguagePrompt(self.prompt).place(config.language)
        return search

    def _mode(self, config: StreamConfig) -> str:
        """The one asked for, or the first; without the graph where that is declined."""
        declined = config.graph.lm is False
        known = [mode for mode in self.modes if not (declined and _searches_graph(mode))]
        if config.mode is None:
            return known[0]
        if config.mode not in self.modes:
            raise InvalidStreamConfig(f"mode={config.mode}: must be one of {', '.join(self.modes)}")
        if config.mode not in known:
            raise InvalidStreamConfig(f"mode {config.mode} contradicts lm=off")
        return config.mode

    def _why_no_graph(self, config: StreamConfig, search: str) -> str | None:
        if search == "graph":
            return None
        if config.graph.lm is False:
            return "because of lm=off"
        if self.graph is None:
            return "there is none here"
        return f"mode {config.mode or self.modes[0]} uses none"


def _searches_graph(mode: str) -> bool:
    return SEARCHES[mode] == "graph"
