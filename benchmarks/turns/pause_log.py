"""What engines hear in the pauses of recordings: what turns are fitted to, and measured by.

Recordings go on in their own room (`room_tone.py`): silence that no speech follows is an end.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias
from unittest.mock import patch

import soundfile

from benchmarks.server.spoken_hour import RATE_HZ, Samples
from benchmarks.turns.room_tone import in_its_room
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
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority
from earshot.streaming.stream_name import StreamName
from earshot.streaming.turns.turn_step import has_paused, pause_stretches
from earshot.streaming.u2 import two_pass
from earshot.training.corpus.utterance import Utterance
from earshot.training.turns.turn_fit import HeardPause

Hearing: TypeAlias = Callable[[Utterance], Samples]

TONE_S = 3.0
TOGETHER = 8
LONGEST_MS = 60_000
ENDLESS = StreamConfig(
    mode="ctc_wfst_beam_search",
    interim_results=False,
    endpoint=EndpointConfig(silence_ms=None, no_speech_ms=600_000, max_utterance_ms=LONGEST_MS),
)


class PauseLog:
    """Stands where `TurnStep` does: it asks as that one does, and ends nothing."""

    def __init__(self, parts: ModelParts, _: int) -> None:
        scorer, units = parts.end_scorer(), parts.model.ctc
        assert scorer is not None
        assert units is not None
        self._scorer, self._blank_id = scorer, units.blank_id
        self._quiet: dict[ActiveStream, list[bool]] = defaultdict(list)
        self._asked: dict[ActiveStream, dict[int, HeardPause]] = defaultdict(dict)

    def __call__(
        self, lanes: Sequence[Lane], best: Callable[[Sequence[ActiveStream]], Sequence[Best]]
    ) -> None:
        """Note the lanes' silent frames, and once in each pause what is known of it."""
        for lane in lanes:
            if lane.observed and not lane.in_padding:
                self._note_frames(lane)
                self._note_pause(lane.stream, best)

    def take(self) -> list[HeardPause]:
        """All pauses of the streams so far, which have come to their ends."""
        asked, self._asked = self._asked, defaultdict(dict)
        pauses = [
            self._heard(stream, start, pause)
            for stream, own in asked.items()
            for start, pause in own.items()
        ]
        self._quiet.clear()
        return pauses

    def _heard(self, stream: ActiveStream, start: int, asked: HeardPause) -> HeardPause:
        quiet, frame_ms = self._quiet[stream][start:], stream.settings.chunking.frame_ms
        frames = len(quiet) if all(quiet) else quiet.index(False)
        return replace(asked, length_ms=frames * frame_ms, is_end=all(quiet))

    def _note_frames(self, lane: Lane) -> None:
        threshold = lane.stream.config.endpoint.blank_threshold
        evidence = ctc_output(lane).posteriors.evidence(self._blank_id, threshold)
        pairs = zip(evidence.silent, evidence.spoken, strict=True)
        self._quiet[lane.stream] += [silent and not spoken for silent, spoken in pairs]

    def _note_pause(
        self, stream: ActiveStream, best: Callable[[Sequence[ActiveStream]], Sequence[Best]]
    ) -> None:
        detector = stream.segment.detector
        start = detector.frames - detector.blank_run
        if detector.speech_frame is None or not has_paused(stream) or start in self._asked[stream]:
            return
        [found] = best([stream])
        if words := [word.text for word in found.hypothesis.words]:
            [end] = self._scorer([words])
            corpus, heard = stream.name.request_id or "", pause_stretches(stream)
            self._asked[stream][start] = HeardPause(corpus, heard, end, 0.0, is_end=False)


def pauses_in(
    model: Path, speech: Sequence[Utterance], hearing: Hearing | None = None
) -> list[HeardPause]:
    """The pauses of recordings as a model hears them; hearing: their samples, `going_on`."""
    logs: list[PauseLog] = []

    def log_instead(parts: ModelParts, width: int) -> PauseLog:
        logs.append(PauseLog(parts, width))
        return logs[-1]

    config = EngineConfig(
        max_streams=TOGETHER, threads=1, max_backlog_s=120, max_utterance_ms=LONGEST_MS
    )
    with patch.object(two_pass, "turn_step", log_instead):
        engine = build_engine(model, find_parts(model), config, device="cpu")
    engine.start()
    pauses: list[HeardPause] = []
    for start in range(0, len(speech), TOGETHER):
        listen_to(engine, speech[start : start + TOGETHER], hearing or going_on)
        pauses += logs[0].take()
    engine.stop(timeout_s=10)
    return pauses


def listen_to(engine: Engine, speech: Sequence[Utterance], hearing: Hearing) -> None:
    """All of them to their end, live, as fast as it goes."""
    last: SimpleQueue[Event] = SimpleQueue()
    for each in speech:
        name = StreamName(each.corpus)
        stream = engine.open(ENDLESS, partial(_keep_last, last), StreamPriority.LIVE, name)
        stream.push(hearing(each))
        stream.finish()
    for _ in speech:
        assert isinstance(last.get(), Closed)


def _keep_last(last: SimpleQueue[Event], event: Event) -> None:
    if isinstance(event, Closed | Failed):
        last.put(event)


def going_on(utterance: Utterance) -> Samples:
    """A recording that goes on."""
    samples, _ = soundfile.read(utterance.path, dtype="float32")
    return in_its_room(samples, round(TONE_S * RATE_HZ))


def chosen(
    speech: Iterable[Utterance], corpora: Sequence[str], count: int | None
) -> list[Utterance]:
    """Of the corpora, as many as asked, drawn."""
    own = [each for each in speech if each.corpus in corpora and each.text]
    random.Random(0).shuffle(own)
    return own[:count]
