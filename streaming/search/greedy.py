"""CTC greedy search: the best token of each frame, repeats merged, blanks dropped."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from earshot.decoder_kernels.prefix.prefix_search import PrefixHypothesis


@dataclass
class GreedySearch:
    """Tokens so far. A token's frame is the one where it was most likely, as long as it repeats."""

    blank_id: int
    tokens: list[int] = field(default_factory=list)
    token_frames: list[int] = field(default_factory=list)
    token_log_probs: list[float] = field(default_factory=list)
    score: float = 0.0
    frames: int = 0
    _previous: int = -1

    def advance(self, best: Sequence[int], log_probs: Sequence[float]) -> None:
        """Walk over the best token of each new frame and its log-probability."""
        for token, log_prob in zip(best, log_probs, strict=True):
            self.score += log_prob
            if token != self.blank_id:
                self._emit(token, log_prob)
            self._previous = token
            self.frames += 1

    def _emit(self, token: int, log_prob: float) -> None:
        if token != self._previous:
            self.tokens.append(token)
            self.token_frames.append(self.frames)
            self.token_log_probs.append(log_prob)
        elif log_prob > self.token_log_probs[-1]:
            self.token_frames[-1] = self.frames
            self.token_log_probs[-1] = log_prob

    def hypothesis(self) -> PrefixHypothesis:
        """The one hypothesis there is."""
        return PrefixHypothesis(
            tokens=tuple(self.tokens),
            frames=tuple(self.token_frames),
            score=self.score,
            ctc_score=self.score,
            boost_score=0.0,
            token_log_probs=tuple(self.token_log_probs),
        )
