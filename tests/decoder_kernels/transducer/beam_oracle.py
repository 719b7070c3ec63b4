"""Beam search over one utterance by a transducer's head, in plain loops.

Alignment-length synchronous decoding (Saon 2020) as it was modified for batches (Grigoryan 2025),
NeMo's MALSD: in each turn every hypothesis says one more label or blank, so many
in a frame at most, hypotheses of the same labels become one with the sum of both probabilities, and
the best `width` stay. A hypothesis that has left the chunk waits for the others, and competes with
its score. `waits="frame"` lets it wait in every frame, so that nothing depends on how a stream is
cut; after the most labels of a frame it goes on to the next, as greedy decoding does. What says the
same is then one before the best stay, so that no copy takes the place of another text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import torch
from boost_walk import BoostWalk
from oracles import NO_BOOSTS, Head
from torch import Tensor

MOST_BLANK = 0.99
"""Probability of the blank above which a language model's labels lose no more by it."""


COPIES = 4
"""Steps to the same labels in the same frame: a label, blanks of durations 0 and 1, and waiting."""


class LabelScores(Protocol):
    """A language model over labels."""

    def scores(self, said: Sequence[int]) -> Tensor:
        """The log-probability `(V,)` of each label after those that were said."""


@dataclass(frozen=True)
class BeamRules:
    """How a beam is searched; max_symbols: labels in one frame before a blank must follow.

    waits: until when a hypothesis that goes ahead waits for the others. narrow: what costs more
    than the best by this is dropped. lm_weight: the power of the language model's probabilities.
    """

    width: int
    max_symbols: int
    waits: Literal["chunk", "frame"] = "chunk"
    narrow: float = math.inf
    lm: LabelScores | None = None
    lm_weight: float = 0.0
    boosts: BoostWalk = NO_BOOSTS

    @property
    def most_steps(self) -> int:
        """The best steps that are taken in a turn: what makes `width` hypotheses."""
        return COPIES * self.width if self.waits == "frame" else self.width


@dataclass(frozen=True)
class Said:
    """One hypothesis: its labels with frames, durations (RNN-T: none) and log-probabilities.

    score: of the whole path, blanks and fusion included. frame: where it stands, in_frame: labels
    said there. blanks: of each frame that a blank has passed, the blank's log-probability.
    """

    projected: Tensor
    state: Any
    score: float = 0.0
    tokens: tuple[int, ...] = ()
    frames: tuple[int, ...] = ()
    durations: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    blanks: dict[int, float] = field(default_factory=dict)
    frame: int = 0
    in_frame: int = 0
    boost_state: int = 0

    @property
    def rank(self) -> float:
        """The score by which hypotheses are told, as NeMo has it: shorter ones are no better."""
        return self.score / (len(self.tokens) + 1)


@dataclass(frozen=True)
class Step:
    """What a hypothesis may do next; no label and no blank where it waits."""

    score: float
    after: Said
    label: int | None = None
    advance: int = 0
    duration: int = 0
    log_prob: float = 0.0


def begin(head: Head) -> list[Said]:
    """The hypotheses of an utterance of which nothing was heard."""
    return [Said(*head.say(head.blank, head.start()))]


def beam_search(
    head: Head, heard: Tensor, rules: BeamRules, before: list[Said] | None = None, first: int = 0
) -> list[Said]:
    """The hypotheses after the projected frames `(T, J)`, the first of which is `first`."""
    beam, end = before or begin(head), first + len(heard)
    while any(each.frame < end for each in beam):
        until = min(each.frame for each in beam) + 1 if rules.waits == "frame" else end
        steps: list[Step] = []
        for said in beam:
            if said.frame >= until:
                steps.append(Step(said.score, said))
            else:
                outputs = head.outputs(heard[said.frame - first], said.projected)
                steps += _steps(head, said, *outputs, rules)
        taken = [_taken(head, step, rules) for step in _pruned(steps, rules)]
        beam = _merged(taken)[: rules.width]
    return beam


def ranked(beam: Sequence[Said]) -> list[Said]:
    """Best first."""
    return sorted(beam, key=lambda said: -said.rank)


def _pruned(steps: list[Step], rules: BeamRules) -> list[Step]:
    """The best, of those that are as good the ones whose hypotheses and labels come first."""
    best = max(step.score for step in steps)
    kept = [step for step in steps if step.score >= best - rules.narrow]
    return sorted(kept, key=lambda step: -step.score)[: rules.most_steps]


def _steps(
    head: Head, said: Said, labels: Tensor, durations: Tensor, rules: BeamRules
) -> Iterator[Step]:
    """The best of labels and blank with durations; a blank alone after `max_symbols`."""
    alone = labels.log_softmax(-1)
    if said.in_frame >= rules.max_symbols and rules.waits == "frame":
        leaving = said.score + float(_fused(alone, said, rules)[-1])
        yield Step(leaving, said, head.blank, 1, 1, float(alone[-1]))
        return
    lasting = durations.log_softmax(-1).double() if head.durations else torch.zeros(1).double()
    scores = _fused(alone, said, rules)[:, None] + lasting
    if said.in_frame >= rules.max_symbols:
        scores[: head.blank] = -math.inf
        scores[head.blank][torch.arange(len(lasting)) != lasting.argmax()] = -math.inf
    for place in (
        scores.flatten().sort(descending=True, stable=True).indices[: rules.most_steps].tolist()
    ):
        label, number = divmod(place, len(lasting))
        duration = head.durations[number] if head.durations else 0
        advance = max(duration, 1) if label == head.blank else duration
        score, log_prob = float(scores[label, number]), float(alone[label])
        if score > -math.inf:
            yield Step(said.score + score, said, label, advance, duration, log_prob)


def _fused(alone: Tensor, said: Said, rules: BeamRules) -> Tensor:
    """Log-probabilities `(V + 1,)` of labels and blank, of which the network's own are `alone`."""
    fused = alone.double()
    labels, blank = fused[:-1], fused[-1]
    if rules.lm is not None:
        spoken = math.log1p(-min(math.exp(blank), MOST_BLANK))
        labels += rules.lm_weight * (spoken + rules.lm.scores(said.tokens))
        blank *= 1 + rules.lm_weight
    _boost(labels, said.boost_state, rules.boosts)
    return fused


def _boost(labels: Tensor, state: int, boosts: BoostWalk) -> None:
    """Let boosts choose among labels, and never between a label and the blank.

    The label that they like best has the score that the network's favourite has without them.
    """
    favourite = float(labels.max())
    for label in range(len(labels)):
        after = boosts.step(state, label)
        labels[label] += boosts.completed(after) + boosts.pending(after)
    labels += favourite - float(labels.max())


def _taken(head: Head, step: Step, rules: BeamRules) -> Said:
    said = step.after
    if step.label is None:
        return said
    frame = said.frame + step.advance
    moved = replace(
        said, score=step.score, frame=frame, in_frame=0 if step.advance else said.in_frame
    )
    if step.label == head.blank:
        passed = dict.fromkeys(range(said.frame, frame), step.log_prob)
        return replace(moved, blanks=said.blanks | passed)
    projected, state = head.say(step.label, said.state)
    return replace(
        moved,
        projected=projected,
        state=state,
        tokens=(*said.tokens, step.label),
        frames=(*said.frames, said.frame),
        durations=(*said.durations, *([step.duration] if head.durations else [])),
        log_probs=(*said.log_probs, step.log_prob),
        in_frame=0 if step.advance else said.in_frame + 1,
        boost_state=rules.boosts.step(said.boost_state, step.label),
    )


def _merged(beam: list[Said]) -> list[Said]:
    """Hypotheses of the same labels at the same frame as one: the likelier's, with both scores."""
    found: dict[tuple[tuple[int, ...], int], Said] = {}
    for said in beam:
        same = found.setdefault((said.tokens, said.frame), said)
        if same is not said:
            likelier = said if said.score > same.score else same
            score = _log_add(same.score, said.score)
            found[said.tokens, said.frame] = replace(likelier, score=score)
    return list(found.values())


def _log_add(one: float, other: float) -> float:
    most, least = max(one, other), min(one, other)
    return most + math.log1p(math.exp(least - most))
