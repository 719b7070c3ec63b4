"""A bad stream fails alone: the one module where any exception is caught, in one function."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Protocol, TypeVar

from earshot.streaming.engine.pulse import Beat, unheard
from earshot.streaming.errors import ListsNotCompiled, StreamingError
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream_name import NAMELESS, StreamName, fields_of

log = logging.getLogger(__name__)


class OfStream(Protocol):
    """Work for one stream: a lane, or a segment that ends."""

    @property
    def stream(self) -> ActiveStream:
        """The stream that fails if the work does."""


T = TypeVar("T", bound=OfStream)
R = TypeVar("R")
Work = Callable[[Sequence[T]], None]


def failure_of(work: Callable[[], object]) -> Exception | None:
    """Do something that may fail; return what it raised."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - whatever it was, other streams go on
        return error
    return None


def attempt(work: Callable[[], None], what: str, name: StreamName = NAMELESS) -> None:
    """Do something for someone outside, whose mistakes are theirs; log what it raises."""
    error = failure_of(work)
    if error is not None:
        log.error("%s raised", what, exc_info=error, extra=name.fields)


def compiled(asked: Future[R], name: StreamName) -> R:
    """What a request's lists have become, once they are.

    Whatever compiling raises is this request's affair and says nothing of the engine: raises
    ListsNotCompiled, or the StreamingError that it is already.
    """
    error = asked.exception()
    if error is None or isinstance(error, StreamingError):
        return asked.result()
    log.error("compiling a request's lists failed", exc_info=error, extra=name.fields)
    raise ListsNotCompiled("the lists of the request cannot be compiled") from error


class Isolation:
    """Does work for streams; `fail` is told of each stream whose work raised, and why.

    beat: called before each piece of work.
    """

    def __init__(
        self, fail: Callable[[ActiveStream, Exception], None], beat: Beat = unheard
    ) -> None:
        self._fail = fail
        self._beat = beat

    def alone(self, stream: ActiveStream, work: Callable[[], None]) -> bool:
        """Do one stream's work; False if it raised."""
        self._beat()
        error = failure_of(work)
        if error is not None:
            self._fail(stream, error)
        return error is None

    def together(self, items: Sequence[T], work: Work[T], again: Work[T] | None = None) -> list[T]:
        """Do `work` on all items at once; where that raises, on one after the other.

        `again` replaces `work` in the second attempt, for work that may be half done. Returns the
        items whose work succeeded.
        """
        if not items:
            return []
        self._beat()
        error = failure_of(partial(work, items))
        if error is None:
            return list(items)
        names = fields_of(item.stream.name for item in items)
        failed = "a step of %d lanes failed; trying each alone"
        log.warning(failed, len(items), exc_info=error, extra=names)
        retry = again or work
        return [item for item in items if self.alone(item.stream, partial(retry, [item]))]
