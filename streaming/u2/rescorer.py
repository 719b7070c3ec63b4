"""Rescorers after the first pass, in turn, each on what the one before has scored."""

from collections.abc import Sequence
from typing import Protocol

from earshot.streaming.engine.pulse import Beat
from earshot.streaming.stream.lane import Ending


class Rescorer(Protocol):
    """A further word on segments that end."""

    def __call__(self, endings: Sequence[Ending], beat: Beat) -> None:
        """Fill in, or rank anew, `scored` of each, best first; see `Recognizer.finish`."""
