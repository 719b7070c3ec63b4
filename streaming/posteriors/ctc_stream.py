"""A stream of log-probabilities, searched as they come."""

import threading
import weakref
from typing import Self

import torch

from earshot.streaming.errors import InvalidLogProbs, StreamClosed
from earshot.streaming.posteriors.ctc_result import CtcPartial, CtcResult
from earshot.streaming.posteriors.log_probs import Array, read_frames
from earshot.streaming.posteriors.search_slots import Asked, SearchSlots


class CtcStream:
    """One utterance, pushed piece by piece; made by `CtcDecoder.stream`.

    Its pieces may be cut anywhere: the result is that of the whole. For one thread at a time. Its
    place in the decoder is free again after `finish`, `close`, a `with` block, or without a
    reference to it.
    """

    def __init__(
        self,
        slots: SearchSlots,
        slot: int,
        asked: Asked,
        lock: threading.Lock,
        max_frames: int,
    ) -> None:
        self._slots = slots
        self._slot = slot
        self._asked = asked
        self._lock = lock
        self._max_frames = max_frames
        self._pieces: list[torch.Tensor] = []
        self._frames = 0
        self._end = weakref.finalize(self, slots.leave, slot, asked)

    @property
    def frames(self) -> int:
        """How many were pushed."""
        return self._frames

    def push(self, log_probs: Array) -> CtcPartial:
        """Search more frames `(T, V)`, as `CtcDecoder.decode` takes them; what is said so far.

        Raises InvalidLogProbs for what are none, and where the stream would become too long: it is
        then as before. Raises StreamClosed.
        """
        self._require_open()
        read = read_frames(log_probs, self._slots.vocab_size)
        [rows] = read.rows
        if self._frames + len(rows) > self._max_frames:
            raise InvalidLogProbs(
                f"{self._frames + len(rows)} frames in a stream, this decoder takes "
                f"{self._max_frames}: finish it in a pause, or give the decoder a larger max_frames"
            )
        with self._lock:
            self._slots.advance([self._slot], read.rows, read.lengths)
            self._frames += len(rows)
            self._pieces.append(rows.to("cpu", copy=True))  # callers may use theirs again
            return self._slots.partial(self._slot, self._asked.boosts)

    def finish(self) -> CtcResult:
        """The result of all that was pushed; the stream is then closed. Raises StreamClosed."""
        self._require_open()
        rows = torch.cat([torch.empty(0, self._slots.vocab_size), *self._pieces])
        try:
            with self._lock:
                [result] = self._slots.results([self._slot], [rows], self._asked)
        finally:
            self.close()
        return result

    def close(self) -> None:
        """Forget the stream; again does nothing."""
        self._end()
        with self._lock:
            self._slots.sweep()
        self._pieces.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _require_open(self) -> None:
        if not self._end.alive:
            raise StreamClosed("this stream is finished or closed")
