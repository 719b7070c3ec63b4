"""One stream as the engine thread sees it: its audio, its segment, what its caller is owed."""

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace

import torch
from torch import Tensor

from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.events import Described, Event, SpeechStarted, UtteranceEnd
from earshot.streaming.language_models.held_lms import HeldLms, StreamLms, let_go
from earshot.streaming.pauses.pause_watch import PauseWatch
from earshot.streaming.requests import Flush
from earshot.streaming.results.results import SegmentClock
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.samples import Samples
from earshot.streaming.serial_thread import at_hand
from earshot.streaming.stream.chunking import Chunking, Cut
from earshot.streaming.stream.endpoint import EndpointDetector
from earshot.streaming.stream.features import FeatureExtractor, FeatureTrack
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.replay import HOST, ReplayPoint, Tags
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment import Segment
from earshot.streaming.stream.segment_boundary import BOUNDARY_WINDOW_MS
from earshot.streaming.stream_config import WHOLE, StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS, StreamName
from earshot.streaming.utterance import Utterance

LEAST_PART = 6
"""Encoder frames of a step that ends in a pause: no encoder has learnt to hear in fewer."""


@dataclass(frozen=True)
class StreamSettings:
    """Settings that all streams of one engine share; see `DecodingConfig`.

    chunking: of a stream that asks for none. file_chunking: of a file's, if it is another.
    chunkings: others to choose from.
    hears_whole: whether segments may be heard whole; those of files are, if they ask for no chunk.
    continuous: whether the encoder hears a stream as one, up to a flush: an endpoint then cuts what
    is said and nothing of the sound, and no frame is encoded twice.
    ends_steps_in_pauses: whether steps may be shorter than a chunk (`PauseWatch`); never of files
    that are heard whole.
    """

    features: FeatureExtractor
    chunking: Chunking
    sample_rate_hz: int
    max_utterance_ms: int
    flush_padding_ms: int
    lead_in_ms: int = 0
    flush_frame: Tensor | None = None
    chunkings: tuple[Chunking, ...] = ()
    file_chunking: Chunking | None = None
    hears_whole: bool = False
    continuous: bool = False
    ends_steps_in_pauses: bool = False

    def chunking_of(self, chunk_ms: float | None, *, is_file: bool = False) -> Chunking:
        """The stream's own, or the engine's where it asks for none of those that there are."""
        for chunking in (self.chunking, *self.chunkings):
            if chunking.chunk_ms == chunk_ms:
                return chunking
        return self.file_chunking or self.chunking if is_file else self.chunking

    @property
    def largest(self) -> Chunking:
        """The largest chunk that a stream may choose."""
        return max((self.chunking, *self.chunkings), key=lambda each: each.chunk_size)

    @property
    def chunks_ms(self) -> tuple[float, ...]:
        """The chunks that streams may choose, shortest first."""
        chunks_ms = {each.chunk_ms for each in (self.chunking, *self.chunkings)}
        return (*sorted(chunks_ms), *((WHOLE,) if self.hears_whole else ()))

    @property
    def lead_in_frames(self) -> int:
        """Feature frames decoded before the first sample, and before the first after a flush."""
        return int(self.lead_in_ms / self.chunking.feature_ms)

    @property
    def kept_frames(self) -> int:
        """Feature frames behind the newest that a boundary may go back to, or a window."""
        if self.continuous:
            every = (self.chunking, *self.chunkings)
            return max(each.left_context + each.window for each in every)
        return int(BOUNDARY_WINDOW_MS / self.chunking.feature_ms) + 2 * self.largest.window

    def backlog_samples(self, max_backlog_s: float) -> int:
        """The undecoded samples that one stream may hold: at least twice what one step hears.

        A caller without room is told of some when half of the backlog is free.
        """
        frames = max(each.window for each in (self.chunking, *self.chunkings))
        step = frames * self.features.frame_shift + self.features.frame_length
        return max(int(max_backlog_s * self.sample_rate_hz), 2 * step)

    @property
    def padding_frames(self) -> int:
        """Feature frames decoded after a flush: the last one's right context, and a little more.

        There are none where the encoder knows itself how audio ends.
        """
        if self.chunking.closing is not None:
            return 0
        return self.chunking.right_context + int(self.flush_padding_ms / self.chunking.feature_ms)

    @property
    def max_segment_frames(self) -> int:
        """No segment has more encoder frames than this."""
        longest_ms = self.max_utterance_ms + self.padding_frames * self.chunking.feature_ms
        return int(longest_ms / self.chunking.frame_ms) + 2 * self.largest.chunk_size


@dataclass(eq=False)
class ActiveStream:
    """An open stream; only the engine thread touches it, but for its inbox.

    search: by its name, to the recogniser alone. search_counts: those of segments that are over.
    worst_wait_s: the longest that a window was ready before its step.
    flush: everything up to here is being decoded to its end, nothing after it is listened to yet.
    rest: encoded frames that the segment has not been given yet.
    tags: what a tagger of words keeps of it, and nobody else looks at.
    lms: the language models that it has named. asked_lms: those that it was opened with, which are
        its own once it is initialised.
    initialised: the boosts that it was opened with are in its slot. over: it has been told its last
        event.
    """

    slot: int
    config: StreamConfig
    search: str
    priority: StreamPriority
    sink: Callable[[Event], None]
    inbox: Inbox
    asked_boosts: Future[CompiledBoosts]
    settings: StreamSettings
    name: StreamName = NAMELESS
    boosts: CompiledBoosts = NO_BOOSTS
    search_counts: SearchCounts = field(default_factory=SearchCounts)
    steps: int = 0
    worst_wait_s: float = 0.0
    flush: Flush | None = None
    rest: Rest | None = None
    tags: Tags | None = None
    lms: StreamLms = field(default_factory=StreamLms)
    asked_lms: Future[HeldLms] = field(default_factory=lambda: at_hand(HeldLms()))
    initialised: bool = False
    over: bool = False
    utterance: Utterance = field(default_factory=Utterance)
    pauses: PauseWatch | None = None

    def __post_init__(self) -> None:
        self._start_track(0)

    @property
    def can_begin(self) -> bool:
        """Whether all that it was opened with is at hand."""
        return self.asked_boosts.done() and self.asked_lms.done()

    def let_go(self) -> None:
        """Nobody waits for what it was opened with any more: it is over."""
        self.asked_boosts.cancel()
        let_go(self.asked_lms)

    @property
    def clock(self) -> SegmentClock:
        """Places the segment's encoder frames in the stream's time."""
        rate = self.settings.sample_rate_hz
        first = self._sample_of(self.segment.start_frame)
        # A frame may be decoded before all of its own time was heard: only an end bounds it.
        end = self.track.origin + self.track.num_samples if self.track.ended else math.inf
        # The place of a last frame may lie behind the end, and so may what follows it.
        start = min(max(first, self.track.start), end)
        frame_s = self.settings.chunking.frame_ms / 1000
        return SegmentClock(start / rate, end / rate, frame_s, (start - first) / rate)

    @property
    def decoded_s(self) -> float:
        """Seconds of audio that results can speak of."""
        return self.clock.at(self.segment.frames)

    @property
    def samples_wanted(self) -> int:
        """Samples, counted from the stream's start, that the next window may need."""
        frames = self._next_frame + self.chunking.window
        samples = self.track.samples_for(frames)
        if self.pauses is not None:
            samples = min(samples, self.pauses.soonest * self.settings.features.frame_shift)
            if (due := self.segment.detector.due) is not None:
                window = self.chunking.part(due).window
                samples = min(samples, self.track.samples_for(self._next_frame + window))
        return self.track.origin + samples

    def listen(self, samples: Samples) -> None:
        """Take samples."""
        self.track.append(samples)
        if self.pauses is not None:
            self.pauses.listen(samples)

    def begin_flush(self, flush: Flush) -> None:
        """Take no more samples until everything is decoded."""
        self.flush = flush
        self.track.end(self.settings.padding_frames)

    def end_flush(self) -> None:
        """Everything is decoded: what comes now is a new beginning."""
        self.flush = None
        self._start_track(self.track.origin + self.track.num_samples)

    def next_cut(self) -> Cut | None:
        """The next step's window, or None while there is too little audio."""
        if self.rest is not None:
            return Cut(0, self.rest.frames, last=False, is_rest=True)
        if self.track.ended and not self.track.available:
            return Cut(0, 0, last=True)
        ahead = self.track.available - self._next_frame
        part = None if self.pauses is None else self._part_before_pause(self.pauses, ahead)
        return part or self.chunking.cut(ahead, self.track.ended)

    def _part_before_pause(self, pauses: PauseWatch, ahead: int) -> Cut | None:
        """A window that ends where a pause is known, or where one has lasted as long as awaited."""
        chunking, start = self.chunking, self._next_frame
        whole = self.track.samples_for(start + chunking.window)
        pauses.look(whole // self.settings.features.frame_shift)
        pause = pauses.pause_after(start)
        while pause is not None:
            frames = chunking.whole_frames(self.track.frames_before(pause) - start)
            if frames:
                return self._part(pauses, max(frames, LEAST_PART), pause, ahead)
            pause = pauses.pause_after(pause)
        due = self.segment.detector.due
        return None if due is None else self._part(pauses, due, start, ahead)

    def _part(self, pauses: PauseWatch, frames: int, quiet: int, ahead: int) -> Cut | None:
        """A window of so many encoder frames, if it is quiet from a frame on up to its end."""
        chunking = self.chunking
        if frames >= chunking.chunk_size:
            return None
        part, stop = chunking.part(frames), self._next_frame + frames * chunking.rate
        return part if part.window <= ahead and pauses.is_quiet(quiet, stop) else None

    def ready_cut(self) -> Cut:
        """The next step's window of a stream that is ready: what it holds does not become less."""
        cut = self.next_cut()
        assert cut is not None
        return cut

    def window(self, cut: Cut) -> Tensor:
        """The features `(W, F)` of a window cut here, with as much left context as there is.

        Where the window begins behind the end of audio there is less of it.
        """
        start = max(self._next_frame - self.chunking.left_context, 0)
        stop = min(self._next_frame + cut.window, self.track.available)
        return self.track.window(start, stop - start, self.segment.start_frame)

    @property
    def heard_whole(self) -> bool:
        """Whether the segment is heard once more, as a whole, where it ends."""
        return self.segment.chunk_ms == WHOLE

    def whole_window(self) -> Tensor:
        """The features `(W, F)` of all encoder frames of the segment."""
        frames = (self.segment.frames - 1) * self.chunking.rate + self.chunking.right_context + 1
        start = self.segment.start_frame
        return self.track.window(start, frames, start)

    def in_padding(self, cut: Cut) -> bool:
        """Whether the next window reaches into the silence that a flush adds.

        No endpoint rule looks there: the flush itself ends the segment. The answer depends on where
        the flush is, not on when it was asked for, and so do all results.
        """
        return self.rest is None and self._next_frame + cut.window > self.track.heard

    @property
    def silent(self) -> bool:
        """Whether the segment has held no speech so far."""
        return self.segment.detector.speech_frame is None

    @property
    def window_start(self) -> int:
        """The track's frame at which the next window starts, but for its left context."""
        return self._next_frame

    @property
    def description(self) -> Described:
        """What there is to say of it, but for what was said in it."""
        counts = asdict(self.search_counts)
        return Described(self.slot, self.search, self.steps, self.worst_wait_s, counts)

    def begin_step(self, waited_s: float) -> Cut:
        """Note a step of a stream that is ready; returns its window."""
        self.steps += 1
        self.worst_wait_s = max(self.worst_wait_s, waited_s)
        return self.ready_cut()

    def restart(self, boundary: int, rest: Rest | None = None) -> None:
        """Begin a new segment at encoder frame `boundary` of this one, with a rest for it."""
        self._start_segment(self.segment.start_frame + boundary * self.settings.chunking.rate)
        self.rest = rest

    def replay_point(self, memory: object = None) -> ReplayPoint:
        """Where it stands, just behind a final; with features where the recogniser has a memory."""
        start = self.segment.start_frame
        track = self.track.point(start if memory is None else None)
        rest = None if self.rest is None else self.rest.to(HOST)
        tags = None if self.tags is None else self.tags.carried
        return ReplayPoint(track, start, replace(self.utterance), rest, memory, tags)

    def resume(self, point: ReplayPoint, device: torch.device = HOST) -> None:
        """Stand where another engine's stream has stood, before any sample.

        device: where frames are encoded, and the rest's are to be.
        """
        self.track.resume(point.track)
        self._watch_pauses(point.track.sample - point.track.origin)
        self._start_segment(point.segment_frame)
        self.rest = None if point.rest is None else point.rest.to(device)
        self.utterance, self.tags = replace(point.utterance), point.tags

    def emit(self, event: Event) -> None:
        """Tell the caller; one who has cancelled hears no results any more."""
        if not self.inbox.cancelled:
            self.sink(event)

    def emit_speech_started(self) -> None:
        """Tell, once per utterance, when speech began."""
        frame = self.segment.detector.speech_frame
        if frame is not None and not self.utterance.speaking:
            self.utterance.speaking = True
            if self.config.vad_events:
                self.emit(SpeechStarted(self.clock.at(frame)))

    def emit_utterance_end(self, after_s: float) -> None:
        """Tell, once per utterance, when it is quiet and no word has come until `after_s`."""
        due_ms, last_s = self.config.utterance_end_ms, self.utterance.last_word_end_s
        if due_ms is not None and last_s is not None and after_s - last_s >= due_ms / 1000:
            self.utterance.last_word_end_s = None
            self.emit(UtteranceEnd(last_s))

    @property
    def _next_frame(self) -> int:
        frames = self.segment.frames + (self.rest.frames if self.rest else 0)
        return self.segment.start_frame + frames * self.settings.chunking.rate

    def _sample_of(self, frame: int) -> int:
        return self.track.origin + frame * self.settings.features.frame_shift

    @property
    def consumed_samples(self) -> int:
        """Samples, counted from the stream's start, that no frame to come needs."""
        return max(self.track.origin + self.track.consumed_samples, self.track.start)

    @property
    def _chunk_ms(self) -> float | None:
        """The chunk that it asks for; where a file asks for none, whole segments if it can be."""
        whole = self.config.chunk_ms is None and self._is_file and self.settings.hears_whole
        return WHOLE if whole else self.config.chunk_ms

    @property
    def _is_file(self) -> bool:
        return self.priority is StreamPriority.FILE

    def _start_track(self, start: int) -> None:
        settings = self.settings
        self.rest = None
        self.track = FeatureTrack(
            settings.features,
            start,
            settings.kept_frames,
            settings.lead_in_frames,
            settings.flush_frame,
        )
        self._watch_pauses(start - self.track.origin)
        self._start_segment(0)

    def _watch_pauses(self, first_sample: int) -> None:
        settings = self.settings
        self.pauses = None
        in_chunks = not (self._is_file and self._chunk_ms == WHOLE)  # no partial is waited for
        if settings.ends_steps_in_pauses and in_chunks:
            shift, feature_ms = settings.features.frame_shift, settings.chunking.feature_ms
            self.pauses = PauseWatch(shift, feature_ms, first_sample)

    def _start_segment(self, frame: int) -> None:
        frame_ms = self.settings.chunking.frame_ms
        detector = EndpointDetector(self.config, frame_ms, self.settings.max_utterance_ms)
        self.segment = Segment(frame, detector, chunk_ms=self._chunk_ms)
        if self.pauses is not None:
            self.pauses.restart(frame)
        self.chunking = self.settings.chunking_of(self._chunk_ms, is_file=self._is_file)
        whole = self.settings.max_segment_frames * self.chunking.rate if self.heard_whole else 0
        self.track.keep(self.settings.kept_frames + whole)
