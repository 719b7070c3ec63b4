"""What a search has found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PrefixHypothesis:
    """One token sequence and what speaks for it.

    ``frames`` is the emission frame of each token, counted from the slot's reset;
    ``token_log_probs`` the log-posterior of the token there. ``score`` is
    ``ctc_score + boost_score``; all are natural logarithms. CTC has no ``ends`` of tokens.
    """

    tokens: tuple[int, ...]
    frames: tuple[int, ...]
    score: float
    ctc_score: float
    boost_score: float
    token_log_probs: tuple[float, ...]
    ends = None


@dataclass(frozen=True)
class PrefixResult:
    """The best hypothesis, and how many of its tokens no later frame can change."""

    hypothesis: PrefixHypothesis
    stable_length: int
