"""One mapping of a NeMo configuration, whose values are of the types that they should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from earshot.models.config_checks import require_number
from earshot.models.errors import ConfigError, quote


@dataclass(frozen=True)
class Section:
    """Keys and values; `name` is where they stand, for errors. All methods raise ConfigError."""

    name: str
    values: Mapping[str, Any]

    def inside(self, key: str) -> Section:
        """The mapping at a key; empty where there is none."""
        value = self.values.get(key)
        value = {} if value is None else value
        if not isinstance(value, Mapping):
            raise ConfigError(f"{self._path(key)} is not a mapping")
        return Section(self._path(key), value)

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number, which must be there unless it has a default."""
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        require_number(self._path(key), value, int)
        return int(self.values[key])

    def flag(self, key: str, default: bool) -> bool:
        """True or False."""
        value = self.values.get(key)
        if value is None:
            return default
        require_number(self._path(key), value, bool)
        return bool(value)

    def choice(self, key: str, default: str, choices: tuple[str, ...]) -> str:
        """One of some words, in lower case whatever it is here: NeMo writes some in upper case."""
        value = self.values.get(key)
        value = default if value is None else value
        if not isinstance(value, str) or value.lower() not in choices:
            raise self._unsupported(key, value, choices)
        return value.lower()

    def items(self, key: str) -> list[Any]:
        """A list; empty where there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, list):
            raise ConfigError(f"{self._path(key)} is not a list")
        return value or []

    def target(self) -> str:
        """The name of the class that this is for, without its modules."""
        value = self.values.get("_target_", self.values.get("target"))
        if not isinstance(value, str):
            raise ConfigError(f"{self._path('_target_')}: {quote(value)} names no class")
        return value.rpartition(".")[2]

    def require_target(self, *known: str) -> str:
        """The same, of those that we have."""
        target = self.target()
        if target not in known:
            raise self._unsupported("_target_", target, known)
        return target

    def require_only(self, allowed: Mapping[str, tuple[Any, ...]]) -> None:
        """Keys with one of the values allowed; the first is named in errors."""
        for key, values in allowed.items():
            if key in self.values and self.values[key] not in values:
                raise self._unsupported(key, self.values[key], values[:1])

    def require_known(self, *known: set[str]) -> None:
        """No key but these."""
        unknown = sorted(map(quote, self.values.keys() - set().union(*known)))
        if unknown:
            raise ConfigError(f"{self.name} has keys we do not know: {', '.join(unknown[:8])}")

    def _unsupported(self, key: str, value: object, choices: tuple[Any, ...]) -> ConfigError:
        supported = ", ".join(text if isinstance(text, str) else quote(text) for text in choices)
        return ConfigError(f"{self._path(key)}: {quote(value)} is not supported ({supported})")

    def _path(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key
