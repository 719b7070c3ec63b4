"""The prefix beam search in plain Python: exact, simple, slow. The kernels are compared with it.

The rules are those of WeNet's ``ctc_prefix_beam_search``, told over token tuples in a dict whose
insertion order breaks ties. Only the node pools of the kernels have no counterpart here.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.boosting.phrase_trie import ROOT
from earshot.decoder_kernels.prefix.prefix_hypothesis import PrefixHypothesis

MINUS_INFINITY = float("-inf")


def log_add(a: float, b: float) -> float:
    """``log(exp(a) + exp(b))``, with the steps of ``csrc/prefix/log_add.h``."""
    high, low = max(a, b), min(a, b)
    if low == MINUS_INFINITY or high - low >= 40.0:
        return high
    return high + _log_of_one_plus(_exp_of_minus(high - low))


def _exp_of_minus(x: float) -> float:
    k = int(x * 1.4426950408889634 + 0.5)
    r = (k * 0.6931471803691238 - x) + k * 1.9082149292705877e-10
    return _polynomial([1.0 / math.factorial(n) for n in range(16)], r) / float(1 << k)


def _log_of_one_plus(y: float) -> float:
    s = y / (2.0 + y)
    return 2.0 * s * _polynomial([1.0 / n for n in range(1, 32, 2)], s * s)


def _polynomial(coefficients: list[float], x: float) -> float:
    """Estrin's scheme, for a number of coefficients that is a power of two."""
    while len(coefficients) > 1:
        pairs = zip(coefficients[::2], coefficients[1::2], strict=True)
        coefficients = [low + high * x for low, high in pairs]
        x *= x
    return coefficients[0]


def common_prefix_length(sequences: Iterable[Sequence[int]]) -> int:
    """How many items all sequences begin with."""
    columns = zip(*sequences, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


class PhraseStates:
    """A boost table read as a set of sequences of tokens, one for each state.

    It takes the table's tree from it and never its failure links: where a token leads is found by
    trying suffixes, the longest first, which is what those links are to save.
    """

    def __init__(self, table: BoostTable | None) -> None:
        self._spelled: list[tuple[int, ...]] = [()]
        self._pending, self._completed = [0.0], [0.0]
        if table is not None:
            tokens, first, count, _ = table.links.tolist()
            self._pending, self._completed = table.bonuses.tolist()
            self._spelled *= table.num_states
            for state in range(table.num_states):  # a parent comes before its children
                for child in range(first[state], first[state] + count[state]):
                    self._spelled[child] = (*self._spelled[state], tokens[child])
        self._states = {spelled: state for state, spelled in enumerate(self._spelled)}

    def step(self, state: int, token: int) -> int:
        """The state after ``token``."""
        said = (*self._spelled[state], token)
        suffixes = (said[start:] for start in range(len(said) + 1))
        return next(self._states[suffix] for suffix in suffixes if suffix in self._states)

    def tokens(self, state: int) -> set[int]:
        """All tokens that lead to a state other than the root."""
        last = {spelled[-1] for spelled in self._states if spelled}
        return {token for token in last if self.step(state, token) != ROOT}

    def pending(self, state: int) -> float:
        """The bonus that is taken back if the phrase is not completed."""
        return float(self._pending[state])

    def completed(self, state: int) -> float:
        """The bonus of the phrases that end here."""
        return float(self._completed[state])


Times = tuple[tuple[int, float], ...]  # emission frame and log-probability of each token


@dataclass
class Scores:
    """What is known of one prefix; names as in ``csrc/prefix/prefix_state.h``."""

    blank_score: float = MINUS_INFINITY
    token_score: float = MINUS_INFINITY
    blank_viterbi: float = MINUS_INFINITY
    token_viterbi: float = MINUS_INFINITY
    blank_times: Times = ()
    token_times: Times = ()
    extended: bool = field(default=False, compare=False)  # an extension has set token_times
    state: int = ROOT
    completed: float = 0.0

    @property
    def score(self) -> float:
        """Log-probability of all paths."""
        return log_add(self.blank_score, self.token_score)

    @property
    def viterbi(self) -> float:
        """Log-probability of the best path."""
        return max(self.blank_viterbi, self.token_viterbi)

    @property
    def times(self) -> Times:
        """Emission times on the best path."""
        return self.blank_times if self.blank_viterbi > self.token_viterbi else self.token_times


Beam = list[tuple[tuple[int, ...], Scores]]


class OracleSearch:
    """One stream. Cut its frames into chunks anywhere: the result is the same."""

    def __init__(
        self,
        beam_size: int,
        token_beam: int,
        blank_id: int = 0,
        table: BoostTable | None = None,
        boost_candidates: bool = True,
    ) -> None:
        self._beam_size, self._token_beam, self._blank_id = beam_size, token_beam, blank_id
        self._automaton = PhraseStates(table)
        self._boost_candidates = boost_candidates
        self._frame = 0
        root = Scores(blank_score=0.0, blank_viterbi=0.0, token_viterbi=0.0)
        self._beam: Beam = [((), root)]
        self._kept = dict(self._beam)  # a prefix of the beam keeps the boost that it has

    def set_boost(self, table: BoostTable | None) -> None:
        """Another table; phrases under way are forgotten."""
        self._automaton = PhraseStates(table)
        self._beam = [(prefix, replace(scores, state=ROOT)) for prefix, scores in self._beam]

    def advance(self, log_probs: Sequence[Sequence[float]]) -> None:
        """Search some frames, each of V log-probabilities."""
        for row in log_probs:
            self._beam = self._pruned(self._expanded(row))
            self._frame += 1

    def nbest(self, finalize: bool = True) -> list[PrefixHypothesis]:
        """All hypotheses, best first."""
        found = [self._hypothesis(prefix, scores, finalize) for prefix, scores in self._beam]
        return sorted(found, key=lambda one: one.score, reverse=True) if finalize else found

    def stable_length(self) -> int:
        """How many tokens all hypotheses begin with."""
        return common_prefix_length([prefix for prefix, _ in self._beam])

    def _expanded(self, row: Sequence[float]) -> dict[tuple[int, ...], Scores]:
        ranked = sorted(range(len(row)), key=lambda token: (-row[token], token))
        best = ranked[: self._token_beam]
        extras = [self._extras(prefix, scores) for prefix, scores in self._beam]
        self._kept = dict(self._beam)
        found: dict[tuple[int, ...], Scores] = {}
        for token in best:
            for prefix, scores in self._beam:
                self._try(found, prefix, scores, token, row[token])
        for token in sorted(set().union(*extras) - set(best)):
            for (prefix, scores), own in zip(self._beam, extras, strict=True):
                if token in own:
                    self._try(found, prefix, scores, token, row[token])
        return found

    def _extras(self, prefix: tuple[int, ...], scores: Scores) -> set[int]:
        """Tokens to try whatever their acoustic rank: those that go on with a boosted phrase."""
        if not self._boost_candidates:
            return set()
        repeated = {prefix[-1]} if scores.state != ROOT else set()
        return self._automaton.tokens(scores.state) | repeated

    def _try(
        self,
        found: dict[tuple[int, ...], Scores],
        prefix: tuple[int, ...],
        scores: Scores,
        token: int,
        log_prob: float,
    ) -> None:
        if token == self._blank_id:
            self._blank(self._entry(found, prefix, scores), scores, log_prob)
        elif prefix and token == prefix[-1]:
            self._repeat(self._entry(found, prefix, scores), scores, log_prob)
            self._extend(found, prefix, scores, token, log_prob, doubled=True)
        else:
            self._extend(found, prefix, scores, token, log_prob, doubled=False)

    @staticmethod
    def _entry(
        found: dict[tuple[int, ...], Scores], prefix: tuple[int, ...], scores: Scores
    ) -> Scores:
        return found.setdefault(prefix, Scores(state=scores.state, completed=scores.completed))

    @staticmethod
    def _blank(entry: Scores, scores: Scores, log_prob: float) -> None:
        entry.blank_score = scores.score + log_prob
        entry.blank_viterbi = scores.viterbi + log_prob
        entry.blank_times = scores.times

    def _repeat(self, entry: Scores, scores: Scores, log_prob: float) -> None:
        entry.token_score = log_add(entry.token_score, scores.token_score + log_prob)
        viterbi = scores.token_viterbi + log_prob
        if entry.token_viterbi < viterbi:
            entry.token_viterbi = viterbi
            if not entry.extended:
                entry.token_times = (*scores.token_times[:-1], (self._frame, log_prob))

    def _extend(
        self,
        found: dict[tuple[int, ...], Scores],
        prefix: tuple[int, ...],
        scores: Scores,
        token: int,
        log_prob: float,
        *,
        doubled: bool,
    ) -> None:
        extended = (*prefix, token)
        state = self._automaton.step(scores.state, token)
        completed = scores.completed + self._automaton.completed(state)
        boosted = self._kept.get(extended, Scores(state=state, completed=completed))
        entry = self._entry(found, extended, boosted)
        score = scores.blank_score if doubled else scores.score
        entry.token_score = log_add(entry.token_score, score + log_prob)
        viterbi = (scores.blank_viterbi if doubled else scores.viterbi) + log_prob
        if entry.token_viterbi < viterbi:
            entry.token_viterbi = viterbi
            times = scores.blank_times if doubled else scores.times
            entry.token_times = (*times, (self._frame, log_prob))
            entry.extended = True

    def _pruned(self, found: dict[tuple[int, ...], Scores]) -> Beam:
        totals = {
            prefix: scores.score + scores.completed + self._automaton.pending(scores.state)
            for prefix, scores in found.items()
        }
        alive = [item for item in found.items() if totals[item[0]] > MINUS_INFINITY]
        return sorted(alive, key=lambda item: totals[item[0]], reverse=True)[: self._beam_size]

    def _hypothesis(
        self, prefix: tuple[int, ...], scores: Scores, finalize: bool
    ) -> PrefixHypothesis:
        boost = scores.completed + (0.0 if finalize else self._automaton.pending(scores.state))
        return PrefixHypothesis(
            tokens=prefix,
            frames=tuple(frame for frame, _ in scores.times),
            score=scores.score + boost,
            ctc_score=scores.score,
            boost_score=boost,
            token_log_probs=tuple(log_prob for _, log_prob in scores.times),
        )
