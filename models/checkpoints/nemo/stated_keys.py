"""Keys of a JSON mapping, each asked for with the type that it must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from earshot.models.errors import ConfigError, quote


class StatedKeys:
    """A mapping of somebody else's file; `place` names it in errors, all of them ConfigError."""

    def __init__(self, content: Mapping[str, Any], place: str) -> None:
        self._content = content
        self._place = place

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def section(self, key: str) -> StatedKeys:
        """A mapping within, which must be there."""
        content = self._content.get(key)
        if not isinstance(content, Mapping):
            raise self.refuse(key, "a mapping")
        return StatedKeys(content, f"{self._place}, {key}")

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number; without a `default` it must be there."""
        value = self._content.get(key, default)
        if type(value) is not int:
            raise self.refuse(key, "a whole number")
        return value

    def numbers(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers, which must be there, and not empty."""
        values = self._content.get(key)
        if not isinstance(values, list) or not values or any(type(v) is not int for v in values):
            raise self.refuse(key, "a list of whole numbers")
        return tuple(values)

    def numbers_by_name(self, key: str) -> dict[str, int]:
        """A mapping of whole numbers; empty where it is not there."""
        values = self._content.get(key, {})
        if not isinstance(values, Mapping) or any(type(v) is not int for v in values.values()):
            raise self.refuse(key, "a mapping of whole numbers")
        return dict(values)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._content.get(key, default)
        if type(value) is not bool:
            raise self.refuse(key, "true or false")
        return value

    def word(self, key: str, default: str | None = None) -> str:
        """A text; without a `default` it must be there."""
        value = self._content.get(key, default)
        if not isinstance(value, str):
            raise self.refuse(key, "a text")
        return value

    def require(self, values: Mapping[str, object]) -> None:
        """Keys that have these values wherever they are there; we implement no others."""
        for key, wanted in values.items():
            # 1.0 equals 1 as a rate does; true must not.
            found = self._content.get(key, wanted)
            if found != wanted or isinstance(found, bool) is not isinstance(wanted, bool):
                raise self.refuse(key, repr(wanted))

    def refuse(self, key: str, wanted: str) -> ConfigError:
        """The error of a key that is not `wanted`."""
        if key not in self._content:
            return ConfigError(f"{self._place} has no {key}, and needs {wanted}")
        return ConfigError(f"{self._place} has {key} {quote(self._content[key])}, not {wanted}")
