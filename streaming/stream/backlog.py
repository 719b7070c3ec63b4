"""The bound on what one stream's caller may ask for ahead of the engine."""

import threading
from collections.abc import Callable

from earshot.streaming.errors import BacklogFull, InvalidAudio, StreamClosed
from earshot.streaming.events import Answer, Closed, Event, Failed, Final
from earshot.streaming.requests import AwaitRoom, Cancel, Flush, Push, Request
from earshot.streaming.samples import Samples, check_audio
from earshot.streaming.stream.sample_count import SampleCount

MAX_REQUESTS = 64
"""Flushes and reconfigurations that may wait; they hold no samples, so the backlog is no bound."""


class Backlog:
    """The requests that were let in and are not done; it stands on the caller's side.

    decoded: by the engine, which may be in another process. `lock` is held from a request's
    admission until it is on its way, so that requests arrive in the order of their admission.
    """

    def __init__(self, max_samples: int, rate_hz: int, decoded: SampleCount) -> None:
        self.lock = threading.Lock()
        self._max_samples = max_samples
        self._rate_hz = rate_hz
        self._decoded = decoded
        self._pushed = 0
        self._unanswered = 0
        self._closed = False
        self._over = False

    @property
    def waiting_s(self) -> float:
        """Seconds of audio pushed and not decoded."""
        return (self._pushed - self._decoded.value) / self._rate_hz

    @property
    def room_s(self) -> float:
        """Seconds of audio that can be pushed now."""
        return self._room / self._rate_hz

    @property
    def decoded_s(self) -> float:
        """Seconds of audio decoded so far."""
        return self._decoded.value / self._rate_hz

    def admit(self, request: Request) -> bool:
        """Count a request in; False where it asks for nothing. The caller holds `lock`.

        Raises InvalidAudio (no samples, or more than half of the backlog in one push), StreamClosed
        and BacklogFull, with nothing counted.
        """
        match request:
            case Push(samples):
                return self._admit_samples(samples)
            case Flush(last=True):
                self._require_open()
                self._closed = True
            case Cancel():
                self._closed = True
            case AwaitRoom():
                pass
            case _:
                self._admit_request()
        return not self._over

    def noting(self, sink: Callable[[Event], None]) -> Callable[[Event], None]:
        """A sink that counts answers out before it passes events on."""

        def receive(event: Event) -> None:
            self.note(event)
            sink(event)

        return receive

    def note(self, event: Event) -> None:
        """Count an answered request out; after its last event nobody asks for anything any more."""
        if isinstance(event, Answer) or (isinstance(event, Final) and event.from_finalize):
            with self.lock:
                self._unanswered -= 1
        elif isinstance(event, Closed | Failed):
            with self.lock:
                self._closed = self._over = True
                self._keep_count()

    @property
    def _room(self) -> int:
        return max(self._max_samples - (self._pushed - self._decoded.value), 0)

    def _admit_samples(self, samples: Samples) -> bool:
        check_audio(samples)
        if 2 * len(samples) > self._max_samples:
            limit_s = self._max_samples / 2 / self._rate_hz
            raise InvalidAudio(f"a push may hold {limit_s:g} s of audio, half of the backlog")
        self._require_open()
        if len(samples) > self._room:
            raise BacklogFull(f"{len(samples)} samples pushed where {self._room} have room")
        self._pushed += len(samples)
        return len(samples) > 0

    def _admit_request(self) -> None:
        self._require_open()
        if self._unanswered >= MAX_REQUESTS:
            raise BacklogFull(f"{self._unanswered} requests wait already")
        self._unanswered += 1

    def _keep_count(self) -> None:
        """The place of the shared count goes to another stream."""
        own = SampleCount()
        own.value = self._decoded.value
        self._decoded = own  # whole, for who reads it without the lock

    def _require_open(self) -> None:
        if self._closed:
            raise StreamClosed("the stream was finished, cancelled, or has failed")
