"""Language models are opened on a thread of their own: neither callers nor the engine wait."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from earshot.streaming.errors import EngineStopped, InvalidStreamConfig, StreamingError
from earshot.streaming.language_models.held_lms import HeldLms, at_hand
from earshot.streaming.lm_mix import LmChoice, LmMix

log = logging.getLogger(__name__)


class LmOpener:
    """One request after the other, in the order of their coming.

    A file is open in no time, but a search wants all of the graph's words found in it, once. What
    boosts are compiled on meanwhile is another thread: a short list is not to wait for that.
    """

    def __init__(
        self, hold: Callable[[LmMix], HeldLms], hold_open: Callable[[LmMix], HeldLms | None]
    ) -> None:
        """hold, hold_open: those of `OpenLms`."""
        self._hold = hold
        self._hold_open = hold_open
        self._thread = ThreadPoolExecutor(1, "language-models")

    def submit(self, asked: LmChoice | None) -> Future[HeldLms]:
        """The models that are to be a stream's; who does not want them any more lets them go.

        Those that others hold are at hand at once. Raises EngineStopped after `stop`, and
        InvalidStreamConfig, or has it in the future, as `OpenLms.hold` does.
        """
        if not isinstance(asked, LmMix):
            return at_hand(HeldLms())
        if (held := self._hold_open(asked)) is not None:
            return at_hand(held)
        try:
            return self._thread.submit(self._opened, asked)
        except RuntimeError as error:  # the executor has no error of its own for that
            raise EngineStopped("the engine is not running") from error

    def _opened(self, asked: LmMix) -> HeldLms:
        """Models of `hold`; whatever goes wrong there is the stream's own error."""
        try:
            return self._hold(asked)
        except StreamingError:
            raise
        except Exception as error:
            log.exception("lm=%s cannot be opened", asked)
            raise InvalidStreamConfig(f"lm={asked} cannot be opened here") from error

    def stop(self) -> None:
        """Begin no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
