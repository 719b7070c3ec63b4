"""How an engine searches its decoding graph, and what one stream may choose of it.

The graph's costs and the network's are added while searching (shallow fusion): `lm_weight` is how
much the graph's count.
"""

import math
from dataclasses import dataclass, replace
from typing import TypeVar

from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.models.config import MAX_BEAM, MAX_LM_WEIGHT, MIN_BEAM, DecodingConfig
from earshot.streaming.entities import NO_ENTITIES, Entities
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.lm_mix import LmChoice

MAX_ACTIVE = 100_000
MAX_LM_CACHE_MB = 16_384

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class GraphSearchConfig:
    """Sizes, and what holds where a stream asks for nothing else.

    lm_weight: multiplies the costs of the graph. beam: how much more than the best a token may
        cost, in nats. None takes what the model's own config recommends.
    max_active: tokens that survive a frame; memory is taken for so many, and no stream may ask for
        more.
    lattice_beam: how much worse than the best an alternative for the second pass may be. Records
        and the time that a final takes grow steeply with it.
    blank_skip: probability of blank above which a frame is not searched for words; 1 never.
    backpointers_per_token: room for words, and for recombinations, of one segment, for each of
        `max_active` tokens.
    posterior_scale, coverage: of the confidences of finals, see `WordConfidences`; by measurement
        (docs/decisions/0036-word-lattices.md).
    lm_in_search: whether the search itself asks the language models that streams name; else they
        rank what it has found. lm_gain_limit, lm_history_beam: in nats, of such a search; see
        `SearchLm`, and for what they cost docs/decisions/0177-large-models-in-the-search.md. A
        history beam below ``lattice_beam`` makes lists of such searches shorter.
    lm_cache_mb: of a GPU's memory, for what such a search has looked up: the models themselves stay
        in the host's. 0 keeps nothing.
    """

    lm_weight: float | None = None
    beam: float | None = None
    max_active: int = 1000
    lattice_beam: float = 3.0
    blank_skip: float = 1.0
    backpointers_per_token: int = 40
    posterior_scale: float = 0.6
    coverage: float = 0.96
    lm_in_search: bool = False
    lm_gain_limit: float = 1.5
    lm_history_beam: float = 3.0
    lm_cache_mb: int = 24

    def __post_init__(self) -> None:
        if not 0.0 < self.posterior_scale < math.inf:
            raise InvalidEngineConfig(f"posterior_scale is {self.posterior_scale}, must be above 0")
        if not 0.0 < self.coverage <= 1.0:
            raise InvalidEngineConfig(f"coverage is {self.coverage}, not in (0, 1]")
        for name in ("lm_gain_limit", "lm_history_beam"):
            if not getattr(self, name) >= 0.0:  # NaN fails
                raise InvalidEngineConfig(f"{name} is {getattr(self, name)}, must not be negative")
        if not 0 <= self.lm_cache_mb <= MAX_LM_CACHE_MB:
            raise InvalidEngineConfig(
                f"lm_cache_mb is {self.lm_cache_mb}, must be 0 to {MAX_LM_CACHE_MB}"
            )
        try:
            check_choices(self.lm_weight, self.beam, self.max_active)
        except InvalidStreamConfig as error:
            raise InvalidEngineConfig(str(error)) from error

    def of(self, model: DecodingConfig) -> "GraphSearchConfig":
        """The same with what a model recommends in the places that are open."""
        return replace(
            self,
            lm_weight=_first(self.lm_weight, model.lm_weight),
            beam=_first(self.beam, model.graph_beam),
        )

    def options(self, asked: "GraphOptions") -> WfstOptions:
        """What one stream is searched with, where the config is complete (`of`).

        Raises InvalidEngineConfig where it is not.
        """
        return WfstOptions(
            beam=_first(asked.beam, self.beam),
            max_active=_first(asked.max_active, self.max_active),
            lattice_beam=self.lattice_beam,
            graph_scale=_first(asked.lm_weight, self.lm_weight),
            blank_skip=self.blank_skip,
        )


@dataclass(frozen=True)
class GraphOptions:
    """What a stream asks of the engine's decoding graph; None leaves it to the engine.

    lm: False for a search without the graph, True insists on it, as language models by name do,
    which rank what it finds, or guide it. entities: members of their classes. The others as in
    `GraphSearchConfig`. Raises InvalidStreamConfig out of their ranges.
    """

    lm: LmChoice | None = None
    lm_weight: float | None = None
    beam: float | None = None
    max_active: int | None = None
    entities: Entities = NO_ENTITIES

    def __post_init__(self) -> None:
        check_choices(self.lm_weight, self.beam, self.max_active)

    @property
    def named(self) -> list[str]:
        """The options that say how the graph is to be searched."""
        choices = ("lm_weight", "beam", "max_active", "entities")
        return [name for name in choices if getattr(self, name) not in (None, NO_ENTITIES)]


def _first(*values: Number | None) -> Number:
    """The first value that is there. Raises InvalidEngineConfig for none."""
    for value in values:
        if value is not None:
            return value
    raise InvalidEngineConfig("a weight or beam is open: take what the model recommends (`of`)")


def check_choices(lm_weight: float | None, beam: float | None, max_active: int | None) -> None:
    """Raises InvalidStreamConfig; written so that NaN fails."""
    if lm_weight is not None and not 0.0 <= lm_weight <= MAX_LM_WEIGHT:
        raise InvalidStreamConfig(f"lm_weight is {lm_weight}, must be 0 to {MAX_LM_WEIGHT:g}")
    if beam is not None and not MIN_BEAM <= beam <= MAX_BEAM:
        raise InvalidStreamConfig(f"beam is {beam}, must be {MIN_BEAM:g} to {MAX_BEAM:g}")
    if max_active is not None and not 1 <= max_active <= MAX_ACTIVE:
        raise InvalidStreamConfig(f"max_active is {max_active}, must be 1 to {MAX_ACTIVE}")
