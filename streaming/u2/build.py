"""A U2 model, and what ranks its words, as a recogniser."""

from dataclasses import replace

from earshot.decoder_kernels.graph.graph import Graph
from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.u2.two_pass import TwoPass
from earshot.streaming.words.fitted_words import words_of


def build_u2(
    loaded: LoadedModel,
    config: EngineConfig,
    graph: Graph | None = None,
    sentences: SentenceScorer | None = None,
) -> TwoPass:
    """With a decoding graph, streams are searched in it unless they ask for another search.

    A neural language model ranks what is found there. Raises InvalidEngineConfig for one without a
    graph, and as `build_recognizer` says.
    """
    if sentences is not None and graph is None:
        raise InvalidEngineConfig("a neural language model needs a graph to rank what it finds")
    graph_search = config.graph_search.of(u2_of(loaded).config.decoding)
    words = None if graph is None else words_of(graph, loaded)
    return TwoPass(loaded, replace(config, graph_search=graph_search), words, sentences)
