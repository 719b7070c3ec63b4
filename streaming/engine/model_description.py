"""What there is to say of the model that an engine runs, and of its decoding graph."""

from dataclasses import dataclass

from torch import nn

from earshot.models.checkpoints.checkpoint import LoadedModel
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.streaming.stream.active_stream import StreamSettings
from earshot.streaming.stream_config import DECODING_MODES, DecodingMode
from earshot.streaming.words.graph_fit import UnitKind
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


@dataclass(frozen=True)
class NeuralLmDescription:
    """The neural language model that ranks what the graph search finds."""

    parameters: int
    vocab_size: int


@dataclass(frozen=True)
class ModelDescription:
    """format: "earshot" or "wenet". chunk_ms: audio between two steps of one stream.

    languages: BCP 47 tags, empty where the model does not say.
    """

    name: str
    format: str
    parameters: int
    vocab_size: int
    sample_rate_hz: int
    chunk_ms: float
    modes: tuple[DecodingMode, ...]
    graph: GraphDescription | None
    neural_lm: NeuralLmDescription | None
    languages: tuple[str, ...]


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
        vocab_size=loaded.model.config.vocab_size,
        sample_rate_hz=settings.sample_rate_hz,
        chunk_ms=settings.chunking.chunk_size * settings.chunking.frame_ms,
        modes=modes,
        graph=None if words is None else _describe_graph(words),
        neural_lm=None if sentences is None else _describe_neural_lm(sentences),
        languages=loaded.languages,
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
