"""What a WFST search has found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WfstHypothesis:
    """One sequence of words and what it costs.

    ``words`` are ids in the graph; from its number of words on they are the spelled words of the
    stream's boost table. ``frames``: when each word left the graph, counted from the slot's reset.
    ``cost`` in nats: acoustic and graph cost less ``boost``, the bonus of completed phrases; final
    cost included where ``reached_final``.
    """

    words: tuple[int, ...]
    frames: tuple[int, ...]
    cost: float
    boost: float
    reached_final: bool


@dataclass(frozen=True)
class WfstResult:
    """The cheapest hypothesis now, and how many of its words no later frame can change."""

    hypothesis: WfstHypothesis
    stable_length: int
