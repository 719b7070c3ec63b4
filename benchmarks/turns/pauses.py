"""Claim: by what was said, turns end sooner than by silence alone, and are cut no more often.

Development recordings that are put aside, live, with three seconds of faint noise behind each. A
*pause* is silence that the engine has asked about (`TurnStep`); one with speech behind it is
inside an utterance, the last one is an end. *Cut*: the rule would have ended the utterance in a
pause inside. *Ends*: how long the pause at an end has to be. What comes on top of that to a final,
a step and its second pass, is in [what a speaker waits for](felt_latency.md).
``--fit`` fits the weights of `TurnRule` to training recordings instead; nothing else has been
fitted, the default threshold was chosen on the other development recordings (``--tune``).
"""

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from unittest.mock import patch

import numpy as np
import soundfile
import torch
from torch.nn import functional

from benchmarks.report import SHARED, below_claim, show_report, table
from benchmarks.server.spoken_hour import NOISE_RMS, RATE_HZ, Samples
from earshot.models.bundled import bundled_model_dir
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Closed, Event, Failed
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.resolver import find_parts
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.search.ctc_output import ctc_output
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import (
    MIN_SILENCE_MS,
    EndpointConfig,
    StreamConfig,
    StreamPriority,
)
from earshot.streaming.stream_name import StreamName
from earshot.streaming.turns.turn_rule import REFERENCE_MS, TurnRule
from earshot.streaming.turns.turn_step import LEAST_ASKED_MS
from earshot.streaming.u2 import two_pass
from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.corpus.utterance import Utterance

CORPORA = ("librispeech", "coffee", "speechocean")
NOISE_S = 3.0
TOGETHER = 8
ENDLESS = StreamConfig(
    interim_results=False,
    endpoint=EndpointConfig(silence_ms=None, no_speech_ms=600_000, max_utterance_ms=60_000),
)
TIMEOUT_MS = 1400
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85)
SILENCES_MS = (300, 500, 700, 1000, 1400)
FITTED_MS = (200, 240, 320, 400, 520, 640, 800, 1000)
"""Lengths at which a pause counts when weights are fitted."""


@dataclass(frozen=True)
class Pause:
    """end_log_prob: of the text before it. is_end: nothing is said behind it."""

    end_log_prob: float
    length_ms: float
    is_end: bool


class PauseLog:
    """Stands where `TurnStep` does: it asks as that one does, and ends nothing."""

    def __init__(self, parts: ModelParts) -> None:
        scorer, units = parts.end_scorer(), parts.model.ctc
        assert scorer is not None
        assert units is not None
        self._scorer, self._blank_id = scorer, units.blank_id
        self.quiet: dict[ActiveStream, list[bool]] = defaultdict(list)
        self.asked: dict[ActiveStream, dict[int, float]] = defaultdict(dict)

    def __call__(
        self, lanes: Sequence[Lane], best: Callable[[Sequence[ActiveStream]], Sequence[Best]]
    ) -> None:
        """Note the lanes' silent frames, and once in each pause how likely its text ends."""
        for lane in lanes:
            if lane.observed and not lane.in_padding:
                self._note(lane, best)

    def pauses_of(self, stream: ActiveStream) -> list[Pause]:
        """All that a stream was asked about."""
        quiet, frame_ms = self.quiet[stream], stream.settings.chunking.frame_ms
        pauses = []
        for start, end_log_prob in self.asked[stream].items():
            frames = next((n for n, each in enumerate(quiet[start:]) if not each), None)
            is_end = frames is None
            lasting = len(quiet) - start if frames is None else frames
            pauses.append(Pause(end_log_prob, lasting * frame_ms, is_end))
        return pauses

    def _note(self, lane: Lane, best: Callable[[Sequence[ActiveStream]], Sequence[Best]]) -> None:
        stream = lane.stream
        threshold = stream.config.endpoint.blank_threshold
        evidence = ctc_output(lane).posteriors.evidence(self._blank_id, threshold)
        pairs = zip(evidence.silent, evidence.spoken, strict=True)
        self.quiet[stream] += [silent and not spoken for silent, spoken in pairs]
        detector = stream.segment.detector
        start, frame_ms = detector.frames - detector.blank_run, stream.settings.chunking.frame_ms
        is_long = detector.blank_run * frame_ms >= LEAST_ASKED_MS
        if detector.speech_frame is None or not is_long or start in self.asked[stream]:
            return
        [found] = best([stream])
        if words := [word.text for word in found.hypothesis.words]:
            [self.asked[stream][start]] = self._scorer([words])


def pauses_in(speech: Sequence[Utterance]) -> dict[str, list[Pause]]:
    """The pauses of recordings by their corpora."""
    logs: list[PauseLog] = []

    def log_instead(parts: ModelParts) -> PauseLog:
        logs.append(PauseLog(parts))
        return logs[-1]

    config = EngineConfig(max_streams=TOGETHER, threads=1, max_backlog_s=120)
    with patch.object(two_pass, "turn_step", log_instead):
        engine = build_engine(bundled_model_dir(), find_parts(), config, device="cpu")
    engine.start()
    for start in range(0, len(speech), TOGETHER):
        listen_to(engine, speech[start : start + TOGETHER])
    engine.stop(timeout_s=10)
    [log] = logs
    pauses: dict[str, list[Pause]] = defaultdict(list)
    for stream in log.asked:
        pauses[stream.name.request_id or ""] += log.pauses_of(stream)
    return pauses


def listen_to(engine: Engine, speech: Sequence[Utterance]) -> None:
    """All of them to their end, live, as fast as it goes."""
    last: SimpleQueue[Event] = SimpleQueue()
    for each in speech:
        name = StreamName(each.corpus)
        stream = engine.open(ENDLESS, partial(_keep_last, last), StreamPriority.LIVE, name)
        stream.push(with_noise(each))
        stream.finish()
    for _ in speech:
        assert isinstance(last.get(), Closed)


def _keep_last(last: SimpleQueue[Event], event: Event) -> None:
    if isinstance(event, Closed | Failed):
        last.put(event)


def with_noise(utterance: Utterance) -> Samples:
    """A recording, and faint noise behind it."""
    samples, _ = soundfile.read(utterance.path, dtype="float32")
    drawn = np.random.default_rng(0).normal(0.0, NOISE_RMS, round(NOISE_S * RATE_HZ))
    return np.concatenate([samples, drawn]).astype(np.float32)


@dataclass(frozen=True)
class Ending:
    """When turns end by some rule. cuts: of pauses inside, in percent."""

    cuts: float
    ends_ms: Sequence[float]

    @classmethod
    def of(cls, pauses: Sequence[Pause], pause_ms: Callable[[Pause], float]) -> "Ending":
        """By the pause that each one has to last."""
        inside = [each for each in pauses if not each.is_end]
        cut = sum(each.length_ms >= pause_ms(each) for each in inside)
        return cls(100 * cut / max(len(inside), 1), [pause_ms(e) for e in pauses if e.is_end])

    @property
    def cells(self) -> list[str]:
        """Cut, and the pauses at ends."""
        p50, p90 = np.percentile(self.ends_ms, [50, 90])
        return [f"{self.cuts:.1f}", f"{p50:.0f} / {p90:.0f}"]


def by_rule(threshold: float) -> Callable[[Pause], float]:
    """How long a pause has to be by the text, within its limits."""
    rule = TurnRule()

    def pause_ms(pause: Pause) -> float:
        asked = rule.pause_ms(pause.end_log_prob, threshold)
        return min(max(asked, MIN_SILENCE_MS), TIMEOUT_MS)

    return pause_ms


def rows(pauses: Mapping[str, Sequence[Pause]]) -> list[list[str]]:
    """A line for each silence and each threshold, all corpora and each."""
    sets = [[each for own in pauses.values() for each in own], *pauses.values()]
    rules = {f"silence of {ms} ms": (lambda pause, ms=ms: ms) for ms in SILENCES_MS}
    rules |= {f"`eot_threshold={each:g}`": by_rule(each) for each in THRESHOLDS}
    return [
        [name, *[cell for some in sets for cell in Ending.of(some, rule).cells]]
        for name, rule in rules.items()
    ]


def fitted(pauses: Sequence[Pause]) -> TurnRule:
    """The weights by which ends are likeliest told from pauses inside, at some lengths of each."""
    seen = [(pause, ms) for pause in pauses for ms in FITTED_MS if pause.length_ms >= ms]
    inputs = torch.tensor(
        [[1.0, pause.end_log_prob, math.log(ms / REFERENCE_MS)] for pause, ms in seen],
        dtype=torch.float64,
    )
    wanted = torch.tensor([float(pause.is_end) for pause, _ in seen], dtype=torch.float64)
    weights = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        found = functional.binary_cross_entropy_with_logits(inputs @ weights, wanted)
        found.backward()
        return found.detach()

    optimiser.step(loss)
    return TurnRule(*(round(each, 2) for each in weights.tolist()))


def chosen(speech: Iterable[Utterance], count: int | None) -> list[Utterance]:
    """Of the corpora, as many as asked, drawn."""
    own = [each for each in speech if each.corpus in CORPORA and each.text]
    random.Random(0).shuffle(own)
    return own[:count]


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true", help="the weights, on training recordings")
    parser.add_argument("--tune", action="store_true", help="recordings that may be looked at")
    parser.add_argument("--recordings", type=int, metavar="N", help="so many, drawn")
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    folder = SHARED / "speech"
    if asked.fit:
        pauses = pauses_in(chosen(read_speech(folder / "train.tsv"), asked.recordings))
        print(fitted([each for own in pauses.values() for each in own]))
        return
    speech = read_dev_speech(folder / "dev.tsv", aside=not asked.tune)
    pauses = pauses_in(chosen(speech, asked.recordings))
    body = f"{below_claim(__doc__)}\n\n{counted(pauses)}\n\n{table(header(pauses), rows(pauses))}\n"
    is_written = asked.write and not asked.tune
    show_report("pauses", "Pauses and ends of turns", body, is_written=is_written)


def counted(pauses: Mapping[str, Sequence[Pause]]) -> str:
    """How many pauses there are."""
    ends = {corpus: sum(each.is_end for each in own) for corpus, own in pauses.items()}
    told = [
        f"{corpus} {len(own) - ends[corpus]} and {ends[corpus]}" for corpus, own in pauses.items()
    ]
    return f"Pauses inside, and ends: {', '.join(told)}."


def header(pauses: Mapping[str, Sequence[Pause]]) -> list[str]:
    """Two columns for all, and for each corpus."""
    names = [
        cell for name in ("all", *pauses) for cell in (f"{name}: cut, %", "ends p50 / p90, ms")
    ]
    return ["", *names]


if __name__ == "__main__":
    main()
