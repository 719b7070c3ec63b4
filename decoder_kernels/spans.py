"""Which rows of an arena are free: a list of spans, first fit."""


class Spans:
    """Rows 0 to ``capacity - 1``."""

    def __init__(self, capacity: int) -> None:
        self._free = [(0, capacity)] if capacity else []

    @property
    def longest(self) -> int:
        """Rows of the longest free span."""
        return max((length for _, length in self._free), default=0)

    def take(self, length: int) -> int | None:
        """The first row of a free span, or None where none is long enough."""
        for i, (start, free) in enumerate(self._free):
            if free >= length:
                self._free[i : i + 1] = [(start + length, free - length)] if free > length else []
                return start
        return None

    def give_back(self, start: int, length: int) -> None:
        """Return a span and join it with its free neighbours."""
        spans = sorted([*self._free, (start, length)])
        joined = spans[:1]
        for begin, free in spans[1:]:
            last, last_length = joined[-1]
            if last + last_length == begin:
                joined[-1] = (last, last_length + free)
            else:
                joined.append((begin, free))
        self._free = joined
