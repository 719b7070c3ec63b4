"""Slots of streams that are over: emptied, or kept from everybody else."""

import logging
from functools import partial

from earshot.streaming.engine.isolation import failure_of
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine.registry import Registry
from earshot.streaming.stream.active_stream import ActiveStream

log = logging.getLogger(__name__)


class SlotCleaner:
    """Empties slots; one that cannot be emptied is tried again when the next stream ends."""

    def __init__(self, recognizer: Recognizer, registry: Registry) -> None:
        self._recognizer = recognizer
        self._registry = registry
        self._kept: list[ActiveStream] = []

    @property
    def kept(self) -> int:
        """Slots that nobody can use."""
        return len(self._kept)

    def clean(self, stream: ActiveStream) -> bool:
        """Empty the slot of a stream that ends; False where it has to be kept from others."""
        self._retry()
        if self._emptied(stream):
            return True
        self._kept.append(stream)
        return False

    def _retry(self) -> None:
        """One at a time: an ending stream does not wait for all that has ever gone wrong."""
        if self._kept and self._emptied(self._kept[0]):
            self._registry.give_back(self._kept.pop(0).slot)

    def _emptied(self, stream: ActiveStream) -> bool:
        error = failure_of(partial(self._recognizer.free, stream))
        if error is not None:
            kept = "slot %d could not be emptied and is kept back"
            log.error(kept, stream.slot, exc_info=error, extra=stream.name.fields)
        return error is None
