"""Work that neither callers nor the engine wait for, on a thread of its own."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from earshot.streaming.errors import EngineStopped

T = TypeVar("T")
P = ParamSpec("P")


class SerialThread:
    """One piece of work after the other, in the order of their coming."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, name)

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The work's result, once it is done. Raises EngineStopped after `stop`."""
        try:
            return self._executor.submit(work, *args, **kwargs)
        except RuntimeError as error:  # the executor has no error of its own for that
            raise EngineStopped("the engine is not running") from error

    def stop(self) -> None:
        """Begin no more."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def at_hand(result: T) -> "Future[T]":
    """A result that needs no work."""
    done: Future[T] = Future()
    done.set_result(result)
    return done


def failed(error: Exception) -> "Future[Any]":
    """A result that there is none of, and why."""
    done: Future[Any] = Future()
    done.set_exception(error)
    return done
