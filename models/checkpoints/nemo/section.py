"""One mapping of a NeMo configuration, whose values are of the types that they should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from earshot.models.errors import ConfigError, FieldError, quote

TARGETS = ("_target_", "target")
"""Keys of the class that a section is for: Hydra's, and the one that NeMo writes at the root."""


@dataclass(frozen=True)
class Section:
    """Keys and values of a file, for errors, at `name` in it. All methods raise ConfigError."""

    file: str
    values: Mapping[str, Any]
    name: str = ""

    def inside(self, key: str) -> Section:
        """The mapping at a key; empty where there is none."""
        value = self.values.get(key)
        value = {} if value is None else value
        if not isinstance(value, Mapping):
            raise self.wrong(key, "is not a mapping")
        return Section(self.file, value, self._path(key))

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number, which must be there unless it has a default."""
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if type(value) is not int:
            raise self._unlike(key, "a whole number")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or False."""
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._unlike(key, "true or false")
        return value

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
            raise self.wrong(key, "is not a list")
        return value or []

    def target(self) -> str:
        """The name of the class that this is for, without its modules."""
        value = self.values.get(self._target_key())
        if not isinstance(value, str):
            raise self._unlike(self._target_key(), "the name of a class")
        return value.rpartition(".")[2]

    def require_target(self, *known: str) -> str:
        """The same, of those that we have."""
        target = self.target()
        if target not in known:
            raise self._unsupported(self._target_key(), target, known)
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
            raise self.wrong("", f"has keys we do not know: {', '.join(unknown[:8])}")

    @contextmanager
    def named(self, keys: Mapping[str, str]) -> Iterator[None]:
        """Has fields of ours that do not fit told by the keys that they come from.

        keys: by the names of fields; of a section inside of this one, with a stop between.
        """
        try:
            yield
        except FieldError as error:
            if error.field not in keys:
                raise
            raise self._misfit(keys[error.field], error) from error

    def wrong(self, key: str, reason: str) -> ConfigError:
        """The error of a key, or of the section itself where that is empty."""
        return ConfigError(" ".join(filter(None, (f"{self.file}:", self._path(key), reason))))

    def _misfit(self, path: str, error: FieldError) -> ConfigError:
        """With the field as well where it was not taken from the file as it is."""
        inner, _, key = path.rpartition(".")
        section = self
        for part in inner.split(".") if inner else ():
            section = section.inside(part)
        value = section.values.get(key, error.value)
        why = f"which {error.reason}" if value == error.value else f"and {error}"
        return section.wrong(key, f"is {quote(value)}, {why}")

    def _unlike(self, key: str, expected: str) -> ConfigError:
        if self.name and not self.values:
            return self.wrong("", "is missing")
        value = self.values.get(key)
        told = "is missing" if value is None else f"is {quote(value)}"
        return self.wrong(key, f"{told}; it should be {expected}")

    def _unsupported(self, key: str, value: object, choices: tuple[Any, ...]) -> ConfigError:
        supported = ", ".join(text if isinstance(text, str) else quote(text) for text in choices)
        return self.wrong(key, f"is {quote(value)}, which is not supported ({supported})")

    def _path(self, key: str) -> str:
        return ".".join(filter(None, (self.name, key)))

    def _target_key(self) -> str:
        """The key that is there, or else the one that should be."""
        usual = TARGETS if self.name else TARGETS[::-1]
        return next((key for key in TARGETS if key in self.values), usual[0])
