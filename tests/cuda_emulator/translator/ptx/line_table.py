"""From where in our sources the instructions come."""

import re
from dataclasses import dataclass
from pathlib import PurePath

from translator.errors import MalformedPtx
from translator.ptx.ptx_source import Statement

FILE = re.compile(r'\.file (\d+) "([^"]*)"')
PLACE = r"(\d+) (\d+) (\d+)"
LOCATION = re.compile(rf"\.loc {PLACE}(?:, ?function_name .*?, ?inlined_at {PLACE})?$")

Place = tuple[int, int, int]  # file, line, column


@dataclass(frozen=True)
class Site:
    """A line of our sources."""

    file: str
    line: int


class LineTable:
    """Follows `.loc` through a PTX file.

    Of a function of the compiler's headers that was inlined into one of ours, it names the line of
    ours.
    """

    def __init__(self, source: list[Statement]) -> None:
        self.site = Site("?", 0)
        self._caller: dict[Place, Place] = {}
        self._paths = {
            int(match[1]): PurePath(match[2])
            for match in (FILE.match(statement.text) for statement in source)
            if match
        }

    def locate(self, statement: Statement) -> None:
        """Reads a `.loc`; line 0 means none, and leaves the site as it was."""
        match = LOCATION.match(statement.text)
        if match is None:
            raise MalformedPtx(f"not a location: {statement.text}", statement.line)
        numbers = [int(number) for number in match.groups() if number is not None]
        place: Place = (numbers[0], numbers[1], numbers[2])
        if place[1] == 0:
            return
        if len(numbers) == 6:
            self._caller[place] = (numbers[3], numbers[4], numbers[5])
        else:
            self._caller.pop(place, None)
        file, line, _ = self._innermost_of_ours(place)
        self.site = Site(self._paths.get(file, PurePath("?")).name, line)

    def _innermost_of_ours(self, place: Place) -> Place:
        seen, at = {place}, place
        while not self._is_ours(at):
            if at not in self._caller or self._caller[at] in seen:
                return place
            at = self._caller[at]
            seen.add(at)
        return at

    def _is_ours(self, place: Place) -> bool:
        return place[1] > 0 and "include" not in self._paths.get(place[0], PurePath("?")).parts
