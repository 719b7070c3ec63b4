"""Rules for what streams may ask of a U2 model, its graph and its language models."""

from dataclasses import dataclass

from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.search.search_choice import SearchKind, choose_search
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.neural_rescoring import require_neural_lm
from earshot.streaming.u2.pass_weights import PassWeights


@dataclass(frozen=True)
class U2Rules:
    """See `StreamRules`. graph: how one is searched, if there is one."""

    graph: GraphSearchConfig | None
    weights: PassWeights
    has_neural_lm: bool

    def choose_search(self, config: StreamConfig) -> SearchKind:
        """See `choose_search`.

        Raises InvalidStreamConfig for weights that count nothing here, too.
        """
        kind = choose_search(config, self.graph)
        self.weights.changed_by(config.weights)
        if "neural_lm" in config.weights:
            require_neural_lm(config, kind, self.has_neural_lm)
        return kind
