"""Language models are opened on a thread of their own: neither callers nor the engine wait."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from earshot.streaming.errors import EngineStopped
from earshot.streaming.language_models.held_lms import HeldLms, at_hand
from earshot.streaming.lm_mix import LmChoice, LmMix


class LmOpener:
    """One request after the other, in the order of their coming.

    A file is open in no time, but a search wants all of the graph's words found in it, once. What
    boosts are compiled on meanwhile is another thread: a short list is not to wait for that.
    """

    def __init__(self, hold: Callable[[LmChoice | None], HeldLms]) -> None:
        """hold: `OpenLms.hold`."""
        self._hold = hold
        self._thread = ThreadPoolExecutor(1, "language-models")

    def submit(self, asked: LmChoice | None) -> Future[HeldLms]:
        """The models that are to be a stream's; who does not want them any more lets them go.

        Raises EngineStopped after `stop`.
        """
        if not isinstance(asked, LmMix):
            return at_hand(HeldLms())
        try:
            return self._thread.submit(self._hold, asked)
        except RuntimeError as error:  # the executor has no error of its own for that
            raise EngineStopped("the engine is not running") from error

    def stop(self) -> None:
        """Begin no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
