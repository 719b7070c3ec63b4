"""Rules for what streams may ask of a NeMo model and its parts."""

from __future__ import annotations

from dataclasses import dataclass

from earshot.models.fastconformer.config import PromptConfig
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.fastconformer.language_prompt import LanguagePrompt
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.parts.table import check_parameters
from earshot.streaming.stream_config import StreamConfig, chunk_name

TRANSDUCER = "transducer_greedy_search"

SEARCHES = {
    TRANSDUCER: "transducer",
    "ctc_wfst_beam_search": "graph",
    "ctc_prefix_beam_search": "prefix",
    "ctc_greedy_search": "greedy",
}
"""Searches by the modes of this family's models; the first that a model has is its default."""


def modes_of(*, transducer: bool, ctc: bool, graph: bool) -> tuple[str, ...]:
    """The modes that a model's heads and a decoding graph allow."""
    has = {"transducer": transducer, "graph": ctc and graph, "prefix": ctc, "greedy": ctc}
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
        self._check_graph(config, search)
        self._check_chunk(config.chunk_ms)
        check_parameters(config, search, self.parts)
        if config.weights:
            names = ", ".join(f"{name}_weight" for name in config.weights)
            raise InvalidStreamConfig(f"{names}: no scorer of this model has a weight")
        if self.prompt is not None:
            LanguagePrompt(self.prompt).place(config.language)
        return search

    def _mode(self, config: StreamConfig) -> str:
        """The one asked for, or the first; without the graph where that is declined."""
        known = [mode for mode in self.modes if config.graph.lm is not False or not _uses_lm(mode)]
        if config.mode is None:
            return known[0]
        if config.mode not in self.modes:
            raise InvalidStreamConfig(f"mode={config.mode}: must be one of {', '.join(self.modes)}")
        if config.mode not in known:
            raise InvalidStreamConfig(f"mode {config.mode} contradicts lm=off")
        return config.mode

    def _check_graph(self, config: StreamConfig, search: str) -> None:
        asked = config.graph
        wishes = [*asked.named, *(["lm=on"] if asked.lm else [])]
        if search != "graph" and wishes:
            raise InvalidStreamConfig(f"{', '.join(wishes)}: no decoding graph is searched here")
        if self.graph is not None and (asked.max_active or 0) > self.graph.max_active:
            raise InvalidStreamConfig(
                f"max_active is {asked.max_active}, at most {self.graph.max_active} here"
            )

    def _check_chunk(self, chunk_ms: float | None) -> None:
        if chunk_ms is not None and chunk_ms not in self.chunks_ms:
            known = ", ".join(map(chunk_name, self.chunks_ms))
            raise InvalidStreamConfig(f"chunk is {chunk_name(chunk_ms)}, there are: {known}")


def _uses_lm(mode: str) -> bool:
    return SEARCHES[mode] == "graph"
