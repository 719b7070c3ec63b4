"""An engine's signs of life, for whoever watches it: that work goes on, or that there is none."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

Beat: TypeAlias = Callable[[], None]
"""Called on the engine's thread, again and again, by work that may take long; it is cheap."""


class Pulse(Protocol):
    """Told by the engine's thread alone."""

    def beat(self) -> None:
        """Work goes on: the engine owes the next beat soon."""

    def rest(self) -> None:
        """The engine sleeps until a stream calls: it owes nothing."""


class Unwatched:
    """The pulse of an engine that nobody watches: it may be stopped in a debugger."""

    def beat(self) -> None:
        """Nobody hears it."""

    def rest(self) -> None:
        """Nobody hears it."""


def unheard() -> None:
    """The beat of work that nobody watches."""
