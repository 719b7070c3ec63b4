"""A U2 model as its engine describes it."""

from torch import nn

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.streaming.engine.model_description import (
    GraphDescription,
    ModelDescription,
    NeuralLmDescription,
)
from earshot.streaming.search.decoding_mode import DECODING_MODES
from earshot.streaming.stream.active_stream import StreamSettings
from earshot.streaming.words.graph_words import GraphWords


def describe_model(
    loaded: LoadedModel,
    settings: StreamSettings,
    words: GraphWords | None,
    sentences: SentenceScorer | None = None,
) -> ModelDescription:
    """The model, and how this engine cuts its audio and searches it."""
    modes = tuple(m for m in DECODING_MODES if words or m != "ctc_wfst_beam_search")
    return ModelDescription(
        name=loaded.name,
        format=loaded.format,
        parameters=_count(loaded.model),
        vocab_size=loaded.tokenizer.vocab_size,
        sample_rate_hz=settings.sample_rate_hz,
        chunk_ms=settings.chunking.chunk_size * settings.chunking.frame_ms,
        modes=modes,
        graph=None if words is None else _describe_graph(words),
        neural_lm=None if sentences is None else _describe_neural_lm(sentences),
        languages=loaded.languages,
        weights=loaded.weights,
    )


def _count(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def _describe_neural_lm(sentences: SentenceScorer) -> NeuralLmDescription:
    network = sentences.network
    return NeuralLmDescription(_count(network), network.config.vocab_size)


def _describe_graph(words: GraphWords) -> GraphDescription:
    graph = words.graph
    return GraphDescription(
        topology=graph.topology,
        units=words.units,
        words=len(graph.word_texts) - 1,
        nodes=graph.num_nodes,
        arcs=graph.num_arcs,
        new_words=words.takes_words,
    )
