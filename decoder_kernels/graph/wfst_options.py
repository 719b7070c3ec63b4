"""What a stream may choose in a WFST search, and the unit in which the search counts costs."""

import math
from dataclasses import dataclass

from earshot.decoder_kernels.errors import InvalidConfig

FRACTION_BITS = 24
"""The search adds integers: a cost of 1 nat is 2^24."""

MAX_COST = 10_000.0
"""In nats: what one arc, or one frame's label, can cost or gain at most. More is clamped to it."""

MAX_SCALE = 100.0
MAX_BEAM = 1e9
SCALE_STEPS = 1 << 16


def fixed(cost: float) -> int:
    """A cost in the search's unit, rounded to the nearest, ties to even (``fixed_cost.h``)."""
    return round(min(max(cost, -MAX_COST), MAX_COST) * 2.0**FRACTION_BITS)


def nats(cost: int) -> float:
    """The reverse of `fixed`."""
    return cost * 2.0**-FRACTION_BITS


@dataclass(frozen=True)
class WfstOptions:
    """How one stream is searched. Raises InvalidConfig for values that make no search.

    beam: a token survives a frame if it costs at most this much more than the best, in nats.
    max_active: of these at most so many survive, the cheapest.
    lattice_beam: alternatives this much worse than the best are remembered for the n-best list.
    acoustic_scale: multiplies the log-probabilities.
    graph_scale: multiplies the costs of the graph, final ones too; rounded to a multiple of 2^-16.
        Costs of a built graph are multiples of 2^-8 nats, so that what a path pays is an integer of
        the search, the same wherever on the path its parts lie.
    blank_skip: in frames where blank is more probable than this, no arc but blank's is followed;
        1 for never.
    """

    beam: float = 17.0
    max_active: int = 10_000
    lattice_beam: float = 8.0
    acoustic_scale: float = 1.0
    graph_scale: float = 1.0
    blank_skip: float = 1.0

    def __post_init__(self) -> None:
        # Written so that NaN fails.
        if not (0.0 < self.beam <= MAX_BEAM and 0.0 < self.lattice_beam <= MAX_BEAM):
            raise InvalidConfig(f"beam and lattice_beam must lie in (0, {MAX_BEAM:g}]")
        if not self.max_active >= 1:
            raise InvalidConfig("max_active must be at least 1")
        if not (0.0 <= self.acoustic_scale <= MAX_SCALE and 0.0 <= self.graph_scale <= MAX_SCALE):
            raise InvalidConfig(f"acoustic_scale and graph_scale must lie in 0..{MAX_SCALE:g}")
        if not 0.0 < self.blank_skip <= 1.0:
            raise InvalidConfig("blank_skip is a probability above 0")
        object.__setattr__(self, "graph_scale", round(self.graph_scale * SCALE_STEPS) / SCALE_STEPS)

    @property
    def fixed_beams(self) -> tuple[int, int]:
        """Beam and lattice_beam in the search's unit."""
        return round(self.beam * 2.0**FRACTION_BITS), round(self.lattice_beam * 2.0**FRACTION_BITS)

    @property
    def skip_log_prob(self) -> float:
        """Log-probability of blank above which a frame is skipped."""
        return math.log(self.blank_skip) if self.blank_skip < 1.0 else math.inf
