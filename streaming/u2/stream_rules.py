"""Rules for what streams may ask of a U2 model and its parts."""

from dataclasses import dataclass

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.parts.table import check_parameters
from earshot.streaming.parts.transducer_lm import without_lm_switch
from earshot.streaming.search.decoding_mode import WENET_MODES
from earshot.streaming.search.search_choice import SearchKind, choose_search
from earshot.streaming.stream_config import StreamConfig, check_chunk
from earshot.streaming.u2.pass_weights import PassWeights


@dataclass(frozen=True)
class U2Rules:
    """See `StreamRules`. modes: what the model has. graph: how one is searched, if there is one.

    parts: names of all. chunks_ms: what `StreamConfig.chunk_ms` may be.
    """

    modes: tuple[str, ...]
    graph: GraphSearchConfig | None
    weights: PassWeights
    parts: frozenset[str]
    chunks_ms: tuple[float, ...]

    def choose_search(self, config: StreamConfig) -> SearchKind:
        """See `choose_search`.

        Raises InvalidStreamConfig for a mode of a head that is not here, for weights that count
        nothing here, and for parameters of parts that are not here or not asked, too.
        """
        self._check_mode(config.mode)
        kind = choose_search(without_lm_switch(config, self.parts), self.graph)
        check_chunk(config.chunk_ms, self.chunks_ms)
        self.weights.changed_by(config.weights)
        check_parameters(config, kind, self.parts)
        return kind

    def _check_mode(self, mode: str | None) -> None:
        if mode not in (None, *self.modes, *WENET_MODES):
            raise InvalidStreamConfig(f"mode={mode}: must be one of {', '.join(self.modes)}")
