"""Language models are opened on a thread of their own: neither callers nor the engine wait."""

import logging
from collections.abc import Callable
from concurrent.futures import Future

from earshot.decoder_kernels.errors import DeviceError
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.language_models.held_lms import HeldLms
from earshot.streaming.lm_mix import LmChoice, LmMix
from earshot.streaming.serial_thread import SerialThread, at_hand

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
        self._thread = SerialThread("language-models")

    def submit(self, asked: LmChoice | None) -> Future[HeldLms]:
        """The models that are to be a stream's; who does not want them any more lets them go.

        Those that others hold are at hand at once. What `OpenLms.hold` raises is in the future.
        Raises EngineStopped after `stop`.
        """
        if not isinstance(asked, LmMix):
            return at_hand(HeldLms())
        held = self._hold_open(asked)
        return self._thread.submit(self._opened, asked) if held is None else at_hand(held)

    def _opened(self, asked: LmMix) -> HeldLms:
        """Models of `hold`; a file that this machine cannot read now is no fault of the engine.

        Nor is one that a device does not take; one that is broken tells the engine itself.
        """
        try:
            return self._hold(asked)
        except (MemoryError, OSError, DeviceError) as error:
            log.exception("lm=%s cannot be opened", asked)
            raise InvalidStreamConfig(f"lm={asked} cannot be opened here") from error

    def stop(self) -> None:
        """Begin no more."""
        self._thread.stop()
