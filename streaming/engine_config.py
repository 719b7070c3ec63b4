"""What one engine is built for, checked once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from earshot.models.native.precision import PrecisionChoice
from earshot.streaming.cores import usable_cores
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.weights import Weights, check_weights

FAMILY_FIELDS = ("chunk_size", "num_left_chunks", "beam_size", "token_beam")
"""Fields of `EngineConfig` that a family takes or refuses."""


@dataclass(frozen=True)
class EngineConfig:
    """Options of the engine; None takes what the model's own config recommends.

    max_streams: slots; memory is taken for all of them at the start.
    chunk_size, num_left_chunks: encoder frames per step, and chunks of left context (-1: all of
        the segment).
    max_batch: lanes per step. A step's length bounds how long a ready live stream waits.
    max_file_lanes: lanes that file streams may take in a step while any live stream is open.
    max_wait_ms: how long a ready live stream may wait for others to share its step.
    max_backlog_s: undecoded audio one stream may hold.
    max_utterance_ms: the longest segment any stream may ask for; it bounds memory per stream.
    flush_padding_ms: quiet frames decoded after the last sample of a flush, beyond the right
        context, because CTC spikes come late.
    threads: of the model and the search; None is one less than there are cores, but for engines on
        a CPU, which share all of them (`assembly/engine_factory.py`).
    precision: what native linear layers multiply; "auto" goes by the network and the processor.
    beam_size, token_beam: hypotheses kept, and tokens considered, per frame, by every family that
        searches with a beam.
    graph_search: how a decoding graph is searched, if the engine has one.
    weights: how much scorers of hypotheses count where a stream does not say; see `weights.py`.
    parts: what else operators set of the model's parts, by setting (`streaming/parts`).
    options: what else is asked of the model's family, by name; it refuses what it does not know.
    lm_dir: folder of the language models that streams may name.
    """

    max_streams: int = 64
    chunk_size: int | None = None
    num_left_chunks: int | None = None
    max_batch: int = 16
    max_file_lanes: int = 4
    max_wait_ms: float = 30.0
    max_backlog_s: float = 30.0
    max_utterance_ms: int = 20000
    flush_padding_ms: int = 40
    threads: int | None = None
    precision: PrecisionChoice = "auto"
    beam_size: int = 10
    token_beam: int = 10
    graph_search: GraphSearchConfig = field(default_factory=GraphSearchConfig)
    weights: Weights = field(default_factory=dict)
    parts: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    lm_dir: Path | None = None

    @property
    def family_options(self) -> dict[str, object]:
        """The options that a model's family has to know: those above that differ from defaults."""
        fields = {name: getattr(self, name) for name in FAMILY_FIELDS}
        changed = {
            name: value for name, value in fields.items() if value != getattr(type(self), name)
        }
        return {**changed, **self.options}

    def __post_init__(self) -> None:
        positive = ("max_streams", "max_batch", "max_file_lanes", "beam_size", "token_beam")
        for name in (*positive, "chunk_size", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidEngineConfig(f"{name} is {value}, must be 1 or more")
        if self.num_left_chunks is not None and self.num_left_chunks < -1:
            raise InvalidEngineConfig(
                f"num_left_chunks is {self.num_left_chunks}, must be -1 (all) or more"
            )
        if self.precision not in get_args(PrecisionChoice):
            known = ", ".join(get_args(PrecisionChoice))
            raise InvalidEngineConfig(f"precision is {self.precision!r}, none of {known}")
        if self.max_wait_ms < 0 or self.flush_padding_ms < 0:
            raise InvalidEngineConfig("max_wait_ms and flush_padding_ms must not be negative")
        if self.max_backlog_s < 1:
            raise InvalidEngineConfig(f"max_backlog_s is {self.max_backlog_s}, must be 1 or more")
        if self.max_utterance_ms < 2000:
            raise InvalidEngineConfig(
                f"max_utterance_ms is {self.max_utterance_ms}, must be 2000 or more"
            )
        if self.lm_dir is not None and not self.lm_dir.is_dir():
            raise InvalidEngineConfig(f"lm_dir: {self.lm_dir} is no folder")
        if self.graph_search.lm_in_search and self.lm_dir is None:
            raise InvalidEngineConfig("lm_in_search: there is no folder of models (lm_dir)")
        for name in self.options:
            if name in FAMILY_FIELDS:
                raise InvalidEngineConfig(f"{name} is a field of its own, and none of `options`")
        try:
            check_weights(self.weights)
        except InvalidStreamConfig as error:
            raise InvalidEngineConfig(str(error)) from error


def engine_threads(config: EngineConfig) -> int:
    """Threads that the model and the search may use."""
    return config.threads or max(usable_cores() - 1, 1)
