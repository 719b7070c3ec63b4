"""A caller's handle on one stream. Every method may be called from any thread."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from earshot.streaming.boosting.boost_compiler import BoostCompiler
from earshot.streaming.engine.registry import Registry
from earshot.streaming.errors import InvalidAudio, InvalidStreamConfig, StreamClosed, StreamingError
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.features import Samples
from earshot.streaming.stream.inbox import Flush, Reconfigure
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.weights import Weights

MAX_AMPLITUDE = 4.0
"""Full scale is 1; resamplers overshoot it a little, samples in int16 range by far."""


class Stream:
    """Push samples, then `finish` or `cancel`; results arrive at the sink given to `Engine.open`.

    What is pushed before `finalize`, `configure` or `finish` is decoded before them. A file is fed
    like this: push pieces until `BacklogFull`, wait for the event `RoomAvailable`, push that piece
    again.
    """

    def __init__(
        self,
        active: ActiveStream,
        compiler: BoostCompiler,
        registry: Registry,
        check: Callable[[StreamConfig], object],
    ) -> None:
        """check: raises InvalidStreamConfig for a config that the engine will refuse."""
        self._active = active
        self._config = active.config
        self._check = check
        self._inbox = active.inbox
        self._compiler = compiler
        self._registry = registry
        self._rate = active.settings.sample_rate_hz

    @property
    def backlog_s(self) -> float:
        """Seconds of audio pushed and not decoded."""
        return self._inbox.backlog / self._rate

    @property
    def room_s(self) -> float:
        """Seconds of audio that can be pushed now."""
        return self._inbox.room / self._rate

    @property
    def decoded_s(self) -> float:
        """Seconds of audio decoded so far: the progress of a file."""
        return self.decoded_samples / self._rate

    @property
    def decoded_samples(self) -> int:
        """How many of those pushed."""
        return self._inbox.consumed

    def push(self, samples: Samples) -> None:
        """Append samples `(N,)`, float32, mono in [-1, 1]; they are copied. None change nothing.

        Raises InvalidAudio (not such samples, or more than half of the backlog at once),
        BacklogFull (none were taken; a `RoomAvailable` event follows) and StreamClosed.
        """
        check_push(samples, self._inbox.max_backlog, self._rate)
        with self._registry.lock:
            self._require_open()
            if self._inbox.push(samples):
                self._registry.call(self._active)

    def finalize(self) -> None:
        """Decode everything pushed so far to its end; a `Final(from_finalize)` follows, always.

        What is pushed afterwards starts afresh, as after a pause. Raises StreamClosed, and
        BacklogFull (nothing was asked; `RoomAvailable` follows) where too many requests wait.
        """
        self._put(Flush(last=False))

    def configure(
        self,
        boosts: Sequence[Boost],
        graph: GraphOptions | None = None,
        weights: Weights | None = None,
    ) -> None:
        """Replace the boosts from this segment on, and what else of the config is not None.

        What is left out is as the call before this one has asked, unless that is refused.
        `Configured` follows, or `NotConfigured`. Raises StreamClosed and EngineStopped, and
        BacklogFull as `finalize` does.
        """
        with self._registry.lock:
            now = self._config
            asked = replace(
                now,
                boosts=tuple(boosts),
                graph=now.graph if graph is None else graph,
                weights=now.weights if weights is None else weights,
            )
            compiling = self._compiler.submit(boosts, asked)
            try:
                self._put(Reconfigure(asked, compiling))
            except StreamingError:
                compiling.cancel()
                raise
            with suppress(InvalidStreamConfig):  # the engine says so in its turn
                self._check(asked)
                self._config = asked
        compiling.add_done_callback(lambda _: self._registry.call(self._active))

    def await_room(self) -> None:
        """Have a `RoomAvailable` follow as after a `BacklogFull`: at once where there is room."""
        with self._registry.lock:
            self._inbox.overflowed = True
            self._registry.call(self._active)

    def finish(self) -> None:
        """No more audio: a last `Final` and `Closed` follow. Raises StreamClosed."""
        with self._registry.lock:
            self._put(Flush(last=True))
            self._inbox.closed = True

    def cancel(self) -> None:
        """End the stream without its last results; only `Closed` follows. Idempotent."""
        with self._registry.lock:
            self._inbox.cancelled = True
            self._inbox.closed = True
            self._registry.call(self._active)

    def _put(self, item: Flush | Reconfigure) -> None:
        with self._registry.lock:
            self._require_open()
            self._inbox.put(item)
            self._registry.call(self._active)

    def _require_open(self) -> None:
        if self._inbox.closed:
            raise StreamClosed("the stream was finished, cancelled, or has failed")


def check_push(samples: Samples, max_backlog: int, rate: int) -> None:
    """Raises InvalidAudio for malformed samples, or more than half the backlog in one push."""
    check_audio(samples)
    if 2 * len(samples) > max_backlog:
        limit_s = max_backlog / 2 / rate
        raise InvalidAudio(f"a push may hold {limit_s:g} s of audio, half of the backlog")


def check_audio(samples: Samples) -> None:
    """Raises InvalidAudio unless the samples are `(N,)`, float32, finite and near [-1, 1]."""
    if samples.dtype != np.float32 or samples.ndim != 1:
        raise InvalidAudio("samples must be a one-dimensional float32 array")
    if not len(samples):
        return
    peak = max(float(samples.max()), -float(samples.min()))
    if not peak <= MAX_AMPLITUDE:
        raise InvalidAudio(f"a sample of {peak:g} is not audio in [-1, 1]")
