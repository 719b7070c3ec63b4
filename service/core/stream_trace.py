"""The last events of a request's streams, with times and without text: for `/debug/streams/ID`."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from earshot.service.core.engine_port import StreamPort
from earshot.streaming.errors import BacklogFull, EngineStopped, StreamClosed
from earshot.streaming.events import (
    Closed,
    Described,
    EagerEndOfTurn,
    Event,
    Failed,
    Final,
    Partial,
    SpeechStarted,
    TurnResumed,
)
from earshot.streaming.requests import FINISH, Cancel, Describe, Push, Request

MAX_EVENTS = 200
MAX_TRACES = 1000
"""Requests that are remembered, over or not; the oldest is forgotten first."""

ANSWER_S = 2.0
"""For the engine to describe a stream; one that hangs does not."""


class StreamTrace:
    """What became of the streams of one request; belongs to the event loop."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began_at = now()
        self._events: deque[Mapping[str, object]] = deque(maxlen=MAX_EVENTS)
        self._streams: Sequence[StreamPort] = ()
        self._described: dict[int, Described] = {}
        self._unanswered: set[int] = set()
        self._answered = asyncio.Event()

    def open(self, streams: Sequence[StreamPort]) -> None:
        """Note the streams, in the order of their channels."""
        self._streams = streams

    def asked(self, request: Request, channel: int) -> None:
        """Note a request, but for audio; a stream that is to end is asked a last time."""
        if request == FINISH:
            self._ask(channel)
        elif isinstance(request, Cancel):
            self._await_no_more(channel)
        if not isinstance(request, Push):
            self._note(channel, type(request).__name__, {})

    def heard(self, event: Event, channel: int) -> None:
        """Note an event of a stream's."""
        if isinstance(event, Described):
            self._described[channel] = event
        else:
            self._note(channel, type(event).__name__, _facts(event))
        if isinstance(event, Described | Closed | Failed):
            self._await_no_more(channel)

    async def describe(self) -> dict[str, object]:
        """All that is known, as JSON; streams that go on are asked how they stand."""
        self._answered.clear()
        for channel in range(len(self._streams)):
            self._ask(channel)
        if self._unanswered:
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_S):
                    await self._answered.wait()
        streams = [self._describe(*each) for each in enumerate(self._streams)]
        return {"age_s": self._age_s, "streams": streams, "events": list(self._events)}

    def _describe(self, channel: int, stream: StreamPort) -> dict[str, object]:
        known = self._described.get(channel)
        facts: dict[str, Any] = {} if known is None else asdict(known)
        if known is not None:
            facts["worst_wait_s"] = round(known.worst_wait_s, 4)
        facts |= {"engine_pid": stream.engine_pid, "decoded_s": round(stream.decoded_s, 3)}
        return {"channel": channel, **facts}

    def _ask(self, channel: int) -> None:
        """Ask the engine, unless the stream is over or has no room for it."""
        with suppress(StreamClosed, BacklogFull, EngineStopped):
            self._streams[channel].ask(Describe())
            self._unanswered.add(channel)

    def _await_no_more(self, channel: int) -> None:
        self._unanswered.discard(channel)
        if not self._unanswered:
            self._answered.set()

    def _note(self, channel: int, what: str, facts: Mapping[str, object]) -> None:
        self._events.append({"at_s": self._age_s, "channel": channel, "what": what, **facts})

    @property
    def _age_s(self) -> float:
        return round(self._now() - self._began_at, 4)


class StreamTraces:
    """The traces of the last requests, by id."""

    def __init__(self) -> None:
        self._traces: OrderedDict[str, StreamTrace] = OrderedDict()

    def begin(self, request_id: str) -> StreamTrace:
        """Trace a request's streams from now on."""
        trace = self._traces[request_id] = StreamTrace()
        if len(self._traces) > MAX_TRACES:
            self._traces.popitem(last=False)
        return trace

    def get(self, request_id: str) -> StreamTrace | None:
        """The trace of a request, unless it is forgotten."""
        return self._traces.get(request_id)


def _facts(event: Event) -> Mapping[str, object]:
    """Times and counts of an event; never its text."""
    match event:
        case Partial() | Final():
            said = event.alternatives[0].words if event.alternatives else ()
            facts: dict[str, object] = {
                "start_s": round(event.start_s, 3),
                "duration_s": round(event.duration_s, 3),
                "words": len(said),
            }
            if isinstance(event, Final):
                return {**facts, "cause": event.cause}
            return {**facts, "stable_words": event.stable_words}
        case EagerEndOfTurn(final):
            return _facts(final)
        case SpeechStarted(time_s) | TurnResumed(time_s):
            return {"time_s": round(time_s, 3)}
        case Failed(error):
            return {"error": type(error).__name__}
    return {}
