"""The engine thread's work: receive, attend, schedule, step, publish."""

import logging
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial

from earshot.streaming.engine.batcher import Batcher
from earshot.streaming.engine.engine_stats import Counters, Observer, StepTimer
from earshot.streaming.engine.failure_streak import FailureStreak
from earshot.streaming.engine.isolation import Isolation, attempt, compiled, failure_of
from earshot.streaming.engine.publisher import Publisher
from earshot.streaming.engine.pulse import Pulse
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine.registry import Registry
from earshot.streaming.engine.slot_cleaner import SlotCleaner
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import (
    DecodingFailed,
    EngineBroken,
    EngineStopped,
    InvalidStreamConfig,
    ListsNotCompiled,
)
from earshot.streaming.events import Closed, Configured, Failed, NotConfigured, RoomAvailable
from earshot.streaming.language_models.held_lms import let_go
from earshot.streaming.lm_mix import LmChoice
from earshot.streaming.requests import Describe, Flush
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Item, Reconfigure
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream_name import fields_of

log = logging.getLogger(__name__)


class EngineLoop:
    """Decodes the registry's streams, some lanes at a time, until the registry says stop."""

    def __init__(
        self,
        recognizer: Recognizer,
        registry: Registry,
        config: EngineConfig,
        counters: Counters,
        observer: Observer | None,
        pulse: Pulse,
        turned: Callable[[], None],
    ) -> None:
        self._recognizer = recognizer
        self._registry = registry
        self._counters = counters
        self._observer = observer
        self._turned = turned
        self._publisher = Publisher(counters)
        self._pulse = pulse
        self._isolation = Isolation(self._fail, self._pulse.beat)
        self._streak = FailureStreak()
        self._cleaner = SlotCleaner(recognizer, registry)
        self._max_streams = config.max_streams
        self._batcher = Batcher[ActiveStream](
            config.max_batch, config.max_file_lanes, config.max_wait_ms / 1000
        )

    def run(self) -> None:
        """Work until the registry stops; streams that are still open then fail.

        Raises EngineBroken where nothing works any more.
        """
        try:
            while (calling := self._receive()) is not None:
                self._attend(calling)
                if lanes := self._schedule():
                    self._turned()  # answers do not wait for the step
                    self._step(lanes)
                self._turned()
                self._check()
        finally:
            self._registry.stop()
            for stream in self._registry.streams:
                self._dismiss(stream, Failed(EngineStopped("the engine was stopped")))
            self._turned()

    def _receive(self) -> list[ActiveStream] | None:
        """Sleep until a step is due or a stream calls; None when the engine is to stop."""
        wait_s = self._batcher.wait_s(time.monotonic(), self._registry.open_live)
        self._pulse.rest()
        calling = self._registry.wait(wait_s)
        self._pulse.beat()
        return calling

    def _attend(self, streams: Sequence[ActiveStream]) -> None:
        """Do what streams ask for, and find out which of them are ready."""
        for stream in streams:
            if stream.over:
                continue
            if not self._isolation.alone(stream, partial(self._attend_to, stream)):
                self._streak.failed()

    def _schedule(self) -> list[Lane]:
        """The lanes of the next step, if it is time for one."""
        now_s = time.monotonic()
        if self._batcher.wait_s(now_s, self._registry.open_live) != 0:
            return []
        taken = self._batcher.take(self._registry.open_live)
        waited = [(stream, now_s - ready_s) for stream, ready_s in taken]
        return [Lane(stream, stream.begin_step(waited_s), waited_s) for stream, waited_s in waited]

    def _check(self) -> None:
        """Raises EngineBroken where no stream can be served any more, or only seems to be."""
        self._streak.check()
        if self._cleaner.kept >= self._max_streams:
            raise EngineBroken("no slot can be emptied for another stream")

    def _step(self, lanes: Sequence[Lane]) -> None:
        """Decode one chunk of every lane, and tell what came of it."""
        timer = StepTimer(tuple(lane.waited_s for lane in lanes))
        failed_before = self._counters.failed_streams
        recognizer, together = self._recognizer, self._isolation.together
        alive = together(lanes, recognizer.encode)
        timer.mark()
        alive = together(alive, recognizer.decode, recognizer.decode_again)
        timer.mark()
        endings = [lane.ending for lane in alive if lane.ending is not None]
        eager = [lane.eager for lane in alive if lane.eager is not None]
        together([*endings, *eager], self._second_pass, self._second_pass_if_possible)
        timer.mark()
        self._count(lanes)  # before anybody hears of what is counted
        self._publish(alive, endings)
        timer.mark()
        self._report(len(endings), timer)
        if self._counters.failed_streams - failed_before < len(lanes):
            self._streak.worked()
        else:
            self._streak.failed()

    def _second_pass(self, endings: Sequence[Ending]) -> None:
        self._recognizer.finish(endings, self._pulse.beat)

    def _second_pass_if_possible(self, endings: Sequence[Ending]) -> None:
        """The second pass on endings; where it raises, the first pass's word stands."""
        error = failure_of(partial(self._second_pass, endings))
        if error is None:
            return
        names = fields_of(ending.stream.name for ending in endings)
        log.error("the second pass failed; finals are the first's", exc_info=error, extra=names)
        self._counters.second_pass_failures += len(endings)
        for ending in endings:
            ending.keep_first_pass()

    def _publish(self, lanes: Sequence[Lane], endings: Sequence[Ending]) -> None:
        """Tell results, begin new segments where some ended, and see who is ready again."""
        going = [lane for lane in lanes if lane.ending is None]
        going = self._isolation.together(going, self._emit_partials)
        ended = [
            e for e in endings if self._isolation.alone(e.stream, partial(self._emit_final, e))
        ]
        going_on = [ending for ending in ended if ending.cause != "end"]
        restarted = self._isolation.together(going_on, self._recognizer.restart)
        for ending in ended:
            if ending.cause == "end":
                self._isolation.alone(ending.stream, partial(self._finish, ending.stream))
        for stream in [lane.stream for lane in going] + [ending.stream for ending in restarted]:
            self._isolation.alone(stream, partial(self._reschedule, stream))

    def _emit_partials(self, lanes: Sequence[Lane]) -> None:
        streams = [lane.stream for lane in lanes]
        for stream in streams:
            stream.emit_speech_started()
            self._publisher.resumed(stream)
        asking = [stream for stream in streams if stream.config.interim_results]
        for stream, best in zip(asking, self._recognizer.best(asking), strict=True):
            self._publisher.partial(stream, best)
        for lane in lanes:
            if lane.eager is not None:
                self._publisher.eager_end(lane.eager)

    def _emit_final(self, ending: Ending) -> None:
        ending.stream.emit_speech_started()
        self._publisher.resumed(ending.stream)
        self._publisher.final(ending)
        if ending.cause == "endpoint":
            ending.stream.emit_utterance_end(after_s=ending.stream.decoded_s)

    def _finish(self, stream: ActiveStream) -> None:
        stream.emit_utterance_end(after_s=math.inf)
        self._end(stream, Closed(stream.clock.end_s))

    def _reschedule(self, stream: ActiveStream) -> None:
        """After a step: tell what time has brought, and go on."""
        if stream.silent:
            stream.emit_utterance_end(after_s=stream.decoded_s)
        self._attend_to(stream)

    def _attend_to(self, stream: ActiveStream) -> None:
        """Serve the stream, unless what it waits for is not begun any more: the engine stops."""
        try:
            self._serve(stream)
        except CancelledError:
            if not self._registry.stopping:
                raise

    def _serve(self, stream: ActiveStream) -> None:
        """Do what the stream's callers ask for; then it is ready, or waits for audio."""
        if stream.inbox.cancelled:
            self._end(stream, Closed(stream.decoded_s))
            return
        if not stream.initialised:
            if not stream.can_begin:
                return  # the end of what it waits for calls
            try:
                self._initialise(stream)
            except (InvalidStreamConfig, ListsNotCompiled) as error:  # as where a model is gone
                self._end(stream, Failed(error))
                return
        while stream.flush is None and (items := self._registry.take_items(stream)):
            self._take_all(stream, items)
        if self._registry.release(stream):
            stream.emit(RoomAvailable(stream.inbox.room / stream.settings.sample_rate_hz))
        if stream.next_cut() is None:
            self._registry.await_audio(stream, stream.samples_wanted)
        else:
            urgent = stream.flush is not None
            self._batcher.add(stream, stream.priority, time.monotonic(), urgent)

    def _initialise(self, stream: ActiveStream) -> None:
        stream.initialised = True
        stream.lms.take(stream.asked_lms.result(), at_once=True)
        boosts = compiled(stream.asked_boosts, stream.name)
        for warning in self._recognizer.configure(stream, stream.config, boosts):
            stream.emit(warning)

    def _take_all(self, stream: ActiveStream, items: Sequence[Item]) -> None:
        with ExitStack() as on_failure:
            for item in items:
                if isinstance(item, Reconfigure):
                    on_failure.callback(item.let_go)
            for item in items:
                self._take(stream, item)
            on_failure.pop_all()

    def _take(self, stream: ActiveStream, item: Item) -> None:
        if isinstance(item, Flush):
            stream.begin_flush(item)
        elif isinstance(item, Reconfigure):
            stream.emit(self._reconfigured(stream, item))
        elif isinstance(item, Describe):
            stream.emit(stream.description)
        else:
            stream.listen(item)

    def _reconfigured(self, stream: ActiveStream, item: Reconfigure) -> Configured | NotConfigured:
        with ExitStack() as on_failure:
            on_failure.callback(let_go, item.lms)
            try:
                boosts = compiled(item.boosts, stream.name)
                config = item.request.applied_to(stream.config)
                with self._changed_lms(stream, item, config.graph.lm):
                    warnings = self._recognizer.configure(stream, config, boosts)
            except (InvalidStreamConfig, ListsNotCompiled) as error:
                return NotConfigured(str(error))
            stream.segment.detector.go_by(stream.config)
            on_failure.pop_all()
        return Configured(warnings)

    def _changed_lms(
        self, stream: ActiveStream, item: Reconfigure, asked: LmChoice | None
    ) -> AbstractContextManager[None]:
        """The stream's language models while it is configured, and then for good if it was.

        They count from now on where nothing was said yet, or no graph is searched any more, else
        for what comes after this segment: a model is to be asked about whole texts.
        """
        if asked == stream.config.graph.lm:
            let_go(item.lms)
            return nullcontext()
        return stream.lms.trying(item.lms.result(), at_once=stream.silent or asked is False)

    def _fail(self, stream: ActiveStream, error: Exception) -> None:
        """End a stream whose work raised."""
        log.error("decoding a stream failed", exc_info=error, extra=stream.name.fields)
        self._counters.failed_streams += 1
        failure = error
        if not isinstance(failure, DecodingFailed):
            failure = DecodingFailed(f"decoding failed: {type(error).__name__}")
            failure.__cause__ = error
        self._end(stream, Failed(failure))

    def _end(self, stream: ActiveStream, last: Closed | Failed) -> None:
        """Free what the stream holds, then tell it its last event."""
        if stream.over:
            return
        self._batcher.discard(stream)
        stream.lms.release()
        emptied = self._cleaner.clean(stream)
        if not emptied:
            self._streak.failed()
        self._counters.kept_slots = self._cleaner.kept
        self._dismiss(stream, last, emptied=emptied)

    def _dismiss(
        self, stream: ActiveStream, last: Closed | Failed, *, emptied: bool = True
    ) -> None:
        stream.over = True
        self._registry.dismiss(stream, emptied=emptied)
        last_word = partial(stream.sink, last)
        attempt(last_word, "the sink of a stream's last event", stream.name)

    def _count(self, lanes: Sequence[Lane]) -> None:
        counters, frame_s = self._counters, self._recognizer.settings.chunking.frame_ms / 1000
        counters.steps += 1
        counters.lanes += len(lanes)
        counters.audio_s += frame_s * sum(lane.cut.new_frames for lane in lanes)
        counters.search = self._recognizer.counts

    def _report(self, endings: int, timer: StepTimer) -> None:
        if endings:  # slots that started over have been counted
            self._counters.search = self._recognizer.counts
        if self._observer is not None:
            attempt(partial(self._observer, timer.report(endings)), "the engine's observer")
