"""Decoders of one batch that take turns: first whether they agree, then how long they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from benchmarks.transducer.decoding import Batch, Decode, Labels, differing
from benchmarks.wfst.streams import NotRun

MOST_DIFFERING = 0.02
"""Utterances that rounding may decide otherwise."""
Clock = Callable[[], float]


@dataclass(frozen=True)
class Arm:
    """A decoder. most: utterances of a batch that it decodes, if not all.

    is_other: it decodes by other weights, so that there is nothing to compare.
    """

    name: str
    decode: Decode
    most: int | None = None
    is_other: bool = False

    def __call__(self, batch: Batch) -> list[Labels]:
        """Labels of the utterances that it decodes."""
        return self.decode(self.part(batch))

    def part(self, batch: Batch) -> Batch:
        """Those utterances."""
        return batch if self.most is None else batch.first(self.most)


def arms_that_run(makers: Mapping[str, Callable[[], Decode]], missing: dict[str, str]) -> list[Arm]:
    """Decoders by name that can be made here; of others the reason is noted in `missing`."""
    found = []
    for name, make in makers.items():
        try:
            found.append(Arm(name, make()))
        except NotRun as error:
            missing[name] = str(error)
    return found


@dataclass(frozen=True)
class Timed:
    """The best time of an arm for its part of a batch, and what share of utterances differed."""

    seconds: float
    audio_s: float
    differing: float

    @property
    def rtfx(self) -> float:
        """Seconds of audio a second."""
        return self.audio_s / self.seconds


def measure(
    arms: Sequence[Arm],
    batch: Batch,
    budget_s: float,
    clock: Clock,
    most_differing: float = MOST_DIFFERING,
) -> tuple[dict[str, Timed], list[Labels]]:
    """The best time of each arm, and the labels that all agree on.

    Of what the first arm does not decode the second one's labels are the measure. Every arm runs
    once, and again in turns until it has had its share of `budget_s`. Raises SystemExit where more
    than `most_differing` of an arm's utterances differ.
    """
    taken: dict[str, list[float]] = {arm.name: [] for arm in arms}
    expected: list[Labels] = []
    differ = dict.fromkeys(taken, 0.0)
    for arm in arms:
        found = _run(arm, batch, taken, clock)
        if not arm.is_other:
            expected += found[len(expected) :]
            differ[arm.name] = _checked(arm, found, expected, most_differing)
    while again := [arm for arm in arms if sum(taken[arm.name]) < budget_s / len(arms)]:
        for arm in again:
            _run(arm, batch, taken, clock)
    times = {
        arm.name: Timed(min(taken[arm.name]), arm.part(batch).audio_s, differ[arm.name])
        for arm in arms
    }
    return times, expected


def evaluations(joint: nn.Module, arm: Arm, batch: Batch) -> int:
    """How many frames and pasts an arm has the joint join."""
    counts = []

    def count(_: nn.Module, inputs: tuple[Tensor, ...], logits: Tensor) -> None:
        counts.append(logits.numel() // logits.size(-1))

    hook = joint.register_forward_hook(count)
    arm(batch)
    hook.remove()
    return sum(counts)


def _run(arm: Arm, batch: Batch, taken: dict[str, list[float]], clock: Clock) -> list[Labels]:
    began = clock()
    found = arm(batch)
    taken[arm.name].append(clock() - began)
    return found


def _checked(arm: Arm, found: list[Labels], expected: list[Labels], most_differing: float) -> float:
    share = differing(found, expected[: len(found)])
    if share > most_differing:
        raise SystemExit(f"{arm.name}: {share:.1%} of the utterances have other labels")
    return share
