"""One number or switch that an operator or a request may set: a row of a table."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from earshot.streaming.errors import InvalidStreamConfig

Kind: TypeAlias = Literal["number", "integer", "boolean", "models"]
"""models: on, off, or language models by name, which check themselves (`streaming/lm_mix.py`)."""


@dataclass(frozen=True)
class Option:
    """name: of the flag, or of the query parameter. help: the flag's text.

    into: the config's field that takes the value, and the key there: fields of `EngineConfig` for
        an operator's option, of `StreamConfig` for a request's.
    low, high: of numbers. default: where nobody names it; None leaves it to the model.
    capped: no request may ask for more than the operator's option of the same name.
    """

    name: str
    kind: Kind
    into: tuple[str, str]
    help: str = ""
    low: float = 0
    high: float = 0
    default: float | None = None
    capped: bool = False

    @property
    def is_switch(self) -> bool:
        """Whether its values are True and False."""
        return self.kind == "boolean"

    def check(self, value: object) -> None:
        """Raises InvalidStreamConfig for another type, and out of range: so that NaN fails."""
        if self.is_switch:
            if not isinstance(value, bool):
                raise InvalidStreamConfig(f"{self.name} is {value!r}, must be True or False")
            return
        wanted = int if self.kind == "integer" else (int, float)
        is_number = isinstance(value, wanted) and not isinstance(value, bool)
        if not (is_number and self.low <= value <= self.high):  # type: ignore[operator]
            raise InvalidStreamConfig(
                f"{self.name} is {value!r}, must be {self.low:g} to {self.high:g}"
            )


@dataclass(frozen=True)
class Choice:
    """One of some words that an operator may set for a family's sake."""

    name: str
    words: tuple[str, ...]

    def check(self, value: object) -> None:
        """Raises InvalidStreamConfig for any other."""
        if value not in self.words:
            known = ", ".join(self.words)
            raise InvalidStreamConfig(f"{self.name} is {value!r}, none of {known}")


def by_field(options: Iterable[Option], values: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """The values by the config's fields that take them; None counts as not named."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for option in options:
        if (value := values.get(option.name)) is not None:
            field, key = option.into
            found[field][key] = value
    return found
