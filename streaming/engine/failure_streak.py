"""When an engine gives itself up: a device that is lost fails every stream, however many come."""

from earshot.streaming.errors import EngineBroken

MOST_IN_A_ROW = 5
"""Failures with no success between them that one bad stream after the other may explain."""


class FailureStreak:
    """Counts what has failed since something last worked.

    That are steps, streams before their first step, and slots that could not be emptied.
    """

    def __init__(self) -> None:
        self._failures = 0

    def worked(self) -> None:
        """A step brought at least one stream on."""
        self._failures = 0

    def failed(self) -> None:
        """A step brought no stream on, or something around it failed."""
        self._failures += 1

    def check(self) -> None:
        """Raises EngineBroken after too many failures in a row."""
        if self._failures >= MOST_IN_A_ROW:
            raise EngineBroken(f"{self._failures} failures in a row, and nothing that worked")
