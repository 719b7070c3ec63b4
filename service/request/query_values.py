"""A query string as names to values, read by type, as leniently as clients write them."""

import math
import re
from collections.abc import Iterable
from typing import TypeVar

from earshot.service.errors import BadRequest
from earshot.service.request.request_warning import RequestWarning

T = TypeVar("T", bound=str)

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
# int() also takes "1_000", " 7" and other scripts' digits; clients in JavaScript write "1000.0".
_WHOLE_NUMBER = re.compile(r"(\d{1,9})(?:\.0{0,6})?", re.ASCII)
# float() also takes "nan", "1e3", "1_0" and other scripts' digits.
_NUMBER = re.compile(r"\d{1,6}(\.\d{0,6})?|\.\d{1,6}", re.ASCII)


class QueryValues:
    """An empty value asks for nothing; a name has one value, but for those that `all` reads.

    Every complaint names its parameter. warnings: of values that were brought into range.
    """

    def __init__(self, query: Iterable[tuple[str, str]]) -> None:
        self.warnings: list[RequestWarning] = []
        self._values: dict[str, list[str]] = {}
        for name, value in query:
            self._values.setdefault(name, []).append(value)

    def all(self, name: str) -> list[str]:
        """All that are not empty."""
        return [value for value in self._values.get(name, []) if value.strip()]

    def one(self, name: str) -> str | None:
        """The value, or None where it is empty. Raises BadRequest for more than one."""
        return self.raw(name) or None

    def raw(self, name: str) -> str | None:
        """The value as it stands, empty or not. Raises BadRequest for more than one."""
        values = self._values.get(name, [])
        if len(values) > 1:
            raise BadRequest(f"{name}: given {len(values)} times, where it takes one value")
        return values[0] if values else None

    def boolean(self, name: str, default: bool) -> bool:
        """`true`, `false`, 1 or 0."""
        value = self.one(name)
        if value is None:
            return default
        if (wish := _BOOLEANS.get(value.lower())) is None:
            raise BadRequest(f"{name}={value}: must be true or false")
        return wish

    def optional_integer(self, name: str, low: int, high: int) -> int | None:
        """A whole number in range."""
        value = self.one(name)
        if value is None:
            return None
        match = _WHOLE_NUMBER.fullmatch(value)
        number = int(match[1]) if match else -1
        if not low <= number <= high:
            raise BadRequest(f"{name}={value}: must be a whole number from {low} to {high}")
        return number

    def integer_from(self, name: str, low: int, high: int) -> int | None:
        """A whole number to ``high``; below ``low`` it counts as that, and a warning says so."""
        number = self.optional_integer(name, 0, high)
        if number is None or number >= low:
            return number
        message = f"{name}={number}: counts as {low}, the least that is served"
        self.warnings.append(RequestWarning(parameter=name, type="changed_value", message=message))
        return low

    def optional_number(self, name: str, low: float, high: float) -> float | None:
        """A number in range, without an exponent."""
        value = self.one(name)
        if value is None:
            return None
        number = float(value) if _NUMBER.fullmatch(value) else -math.inf
        if not low <= number <= high:
            raise BadRequest(f"{name}={value}: must be a number from {low:g} to {high:g}")
        return number

    def integer(self, name: str, low: int, high: int, default: int) -> int:
        """A whole number in range, or the default."""
        number = self.optional_integer(name, low, high)
        return default if number is None else number

    def choice(self, name: str, choices: tuple[T, ...], default: T) -> T:
        """One of several words, in any case."""
        value = self.one(name)
        if value is None:
            return default
        for choice in choices:
            if choice == value.lower():
                return choice
        raise BadRequest(f"{name}={value}: must be one of {', '.join(choices)}")
