"""Greedy decoding of transducers as the papers' baselines have it, in plain loops.

`frame_looping`: Bataev 2024, Algorithm 1, one utterance. `lock_step`: its Algorithm 2, which is
Galvez 2024's Algorithm 1, a batch whose rows wait for each other in each frame. Both with
`max_symbols` (Galvez 2024, line 9) and, the first, with durations (Xu 2023, Algorithm 2) and
boosts: whether a frame holds the blank is the network's word alone, which label it holds is not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from boost_walk import BoostWalk
from torch import Tensor


class Head(Protocol):
    """What the oracles ask of a network, whoever brings it. All tensors are of one row.

    blank: the unit that is no label. durations: none for an RNN-T.
    """

    blank: int
    durations: Sequence[int]

    def start(self) -> Any:
        """The predictor's state before its first label."""

    def say(self, label: int, state: Any) -> tuple[Tensor, Any]:
        """The projection `(J,)` after a label, and the state after it."""

    def outputs(self, frame: Tensor, said: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of labels and blank `(V + 1,)` and of durations `(n,)`."""


@dataclass(frozen=True)
class Found:
    """Labels in order, the frame each was found in, frames each advanced by (RNN-T: none)."""

    tokens: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Spoken:
    """An utterance between two chunks.

    said, state: of the predictor after the last label. frames: decoded so far. ahead: frames of the
    next chunk that a duration has skipped already. boost_state: in the table of boosts.
    """

    said: Tensor
    state: Any
    frames: int = 0
    ahead: int = 0
    boost_state: int = 0


def begin(head: Head) -> Spoken:
    """An utterance of which nothing was heard."""
    return Spoken(*head.say(head.blank, head.start()))


NO_BOOSTS = BoostWalk(None)


def favourite(labels: Tensor, boosts: BoostWalk, state: int) -> int:
    """The likeliest of the labels `(V,)` with the bonus that each earns from there."""
    scores = labels.double()
    for token in range(len(scores)):
        after = boosts.step(state, token)
        scores[token] += boosts.completed(after) + boosts.pending(after)
    return int(scores.argmax())


def frame_looping(
    head: Head,
    chunk: Tensor,
    max_symbols: int,
    before: Spoken | None = None,
    boosts: BoostWalk = NO_BOOSTS,
) -> tuple[Found, Spoken]:
    """Labels of the projected frames `(T, J)` of a chunk, and the utterance after it.

    A label with duration 0 stays in its frame, as every label of an RNN-T does; after
    `max_symbols` labels in one frame the next frame comes. A blank advances by 1 at least.
    """
    spoken = before or begin(head)
    found, t, in_frame = Found(), spoken.ahead, 0
    while t < len(chunk):
        labels, durations = head.outputs(chunk[t], spoken.said)
        best = int(labels.argmax())
        advance = head.durations[int(durations.argmax())] if head.durations else 0
        if best == head.blank:
            t, in_frame = t + max(advance, 1), 0
            continue
        best = favourite(labels[: head.blank], boosts, spoken.boost_state)
        found.tokens.append(best)
        found.frames.append(spoken.frames + t)
        found.durations.extend([advance] if head.durations else [])
        found.log_probs.append(float(labels.log_softmax(-1)[best]))
        said, state = head.say(best, spoken.state)
        boosted = boosts.step(spoken.boost_state, best)
        spoken = replace(spoken, said=said, state=state, boost_state=boosted)
        in_frame += 1
        if advance == 0 and in_frame >= max_symbols:
            advance = 1
        if advance:
            t, in_frame = t + advance, 0
    return found, replace(spoken, frames=spoken.frames + len(chunk), ahead=t - len(chunk))


def lock_step(head: Head, encoded: Sequence[Tensor], max_symbols: int) -> list[Found]:
    """Labels of a batch of RNN-T utterances, each of projected frames `(T_i, J)`.

    No row leaves a frame before every row has found its blank there, or `max_symbols` rounds have
    passed; a row that is past its blank, or its end, keeps what it has (Galvez 2024, lines 14-18).
    """
    assert not head.durations, "rows that wait for each other advance by one frame"
    rows = [begin(head) for _ in encoded]
    found = [Found() for _ in encoded]
    for t in range(max(map(len, encoded), default=0)):
        blank = [t >= len(frames) for frames in encoded]
        for _ in range(max_symbols):
            if all(blank):
                break
            for row in (row for row in range(len(rows)) if not blank[row]):
                labels, _ = head.outputs(encoded[row][t], rows[row].said)
                best = int(labels.argmax())
                blank[row] = best == head.blank
                if not blank[row]:
                    found[row].tokens.append(best)
                    found[row].frames.append(t)
                    found[row].log_probs.append(float(labels.log_softmax(-1)[best]))
                    said, state = head.say(best, rows[row].state)
                    rows[row] = replace(rows[row], said=said, state=state)
    return found


@dataclass(frozen=True)
class TableHead:
    """A network that is a table: logits by what was said last, so that every case can be made.

    table: from the last label (the blank for none) and a frame's only number to logits.
    """

    blank: int
    durations: Sequence[int]
    table: Callable[[int, int], tuple[Tensor, Tensor]]

    def start(self) -> None:
        """There is no memory but the last label."""

    def say(self, label: int, state: None) -> tuple[Tensor, None]:
        """The label itself."""
        return torch.tensor([label]), state

    def outputs(self, frame: Tensor, said: Tensor) -> tuple[Tensor, Tensor]:
        """The table's row."""
        return self.table(int(said), int(frame))
