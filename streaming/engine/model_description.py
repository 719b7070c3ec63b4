"""The description of the model that an engine runs, and of its decoding graph."""

from dataclasses import dataclass
from pathlib import Path

from earshot.streaming.words.graph_fit import UnitKind


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
    """format: in which its files lie on a disk, "earshot" or "wenet" of those that are built in.

    chunk_ms: audio between two steps of one stream.

    modes: how it may be asked to decode, its default first.
    languages: BCP 47 tags, empty where the model does not say. weights: the file that makes it what
        it is, if it is a file's.
    """

    name: str
    format: str
    parameters: int
    vocab_size: int
    sample_rate_hz: int
    chunk_ms: float
    modes: tuple[str, ...]
    graph: GraphDescription | None
    neural_lm: NeuralLmDescription | None
    languages: tuple[str, ...]
    weights: Path | None = None
