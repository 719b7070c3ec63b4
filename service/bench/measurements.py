"""Measurements of a run, and whether it holds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from earshot.service.bench.word_errors import word_errors

LATE_S = 1.0
MAX_LATE_SHARE = 0.001
MAX_LAG_GROWTH_S = 0.1


@dataclass(frozen=True)
class Heard:
    """One utterance: what came back, how late, and what it should have been.

    at_s: when its final came, in seconds of the run. words: of the text, without capitals and
    marks. alone: the text of the same audio as the only stream.
    """

    at_s: float
    final_latency_s: float
    text: str
    words: str
    alone: str
    truth: str | None


@dataclass
class Measurements:
    """All that the callers of one run noted after every stream had started."""

    streams: int
    duration_s: float
    heard: list[Heard] = field(default_factory=list)
    partial_latencies_s: list[float] = field(default_factory=list)
    send_delays_s: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    changes: int = 0
    refused_changes: int = 0
    audio_s: float = 0.0
    cpu_s: float | None = None


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of a latency, in milliseconds."""

    p50_ms: float
    p95_ms: float
    p99_ms: float

    @classmethod
    def of(cls, values_s: Sequence[float]) -> "Percentiles":
        """Compute them; NaN where nothing was measured."""
        if not values_s:
            return cls(float("nan"), float("nan"), float("nan"))
        p50, p95, p99 = np.percentile(values_s, [50, 95, 99]) * 1000
        return cls(round(float(p50), 1), round(float(p95), 1), round(float(p99), 1))


@dataclass(frozen=True)
class Summary:
    """One line of the result.

    late_share: of partials and finals, those later than a second.
    lag_growth_ms: median final latency of the last third of the run less that of the first.
    wer_to_alone: word errors against the same audio as the only stream.
    send_delay_p99_ms: how late the generator itself was; when it is more than some milliseconds,
        the machine was too busy to measure anything.
    """

    streams: int
    holds: bool
    partial: Percentiles
    final: Percentiles
    cpu_s_per_audio_s: float | None
    late_share: float
    lag_growth_ms: float
    wer_to_alone: float
    wer: float | None
    utterances: int
    failures: int
    send_delay_p99_ms: float

    @classmethod
    def of(cls, run: Measurements) -> "Summary":
        """Sum a run up and judge it by the rule of docs/benchmarks."""
        finals = [each.final_latency_s for each in run.heard]
        results = finals + run.partial_latencies_s
        late_share = sum(latency > LATE_S for latency in results) / max(1, len(results))
        growth_s = _growth(run.heard)
        to_alone = word_errors([(each.alone, each.text) for each in run.heard])
        final = Percentiles.of(finals)
        holds = (
            bool(run.heard)
            and not run.failures
            and final.p95_ms <= LATE_S * 1000
            and late_share <= MAX_LATE_SHARE
            and growth_s <= MAX_LAG_GROWTH_S
            and to_alone == 0.0
        )
        known = [(each.truth, each.words) for each in run.heard if each.truth is not None]
        return cls(
            streams=run.streams,
            holds=holds,
            partial=Percentiles.of(run.partial_latencies_s),
            final=final,
            cpu_s_per_audio_s=_cost(run),
            late_share=round(late_share, 5),
            lag_growth_ms=round(growth_s * 1000, 1),
            wer_to_alone=round(to_alone, 4),
            wer=round(word_errors(known), 4) if known else None,
            utterances=len(run.heard),
            failures=len(run.failures),
            send_delay_p99_ms=Percentiles.of(run.send_delays_s).p99_ms,
        )

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def _cost(run: Measurements) -> float | None:
    """CPU seconds for a second of audio; None where nobody says, or every stream broke at once."""
    return round(run.cpu_s / run.audio_s, 5) if run.cpu_s is not None and run.audio_s else None


def _growth(heard: Sequence[Heard]) -> float:
    ordered = sorted(heard, key=lambda each: each.at_s)
    third = len(ordered) // 3
    if third == 0:
        return 0.0
    first, last = ordered[:third], ordered[-third:]
    medians = [float(np.median([each.final_latency_s for each in part])) for part in (first, last)]
    return medians[1] - medians[0]
