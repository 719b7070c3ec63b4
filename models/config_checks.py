"""Checks of configuration values, done once, when a configuration is made."""

from __future__ import annotations

from typing import get_args

from earshot.models.errors import ConfigError, FieldError


def require(condition: bool, message: str) -> None:
    """A condition of a value; raises ConfigError with the message unless it holds."""
    if not condition:
        raise ConfigError(message)


def require_field(section: object, name: str, fits: bool, reason: str) -> None:
    """A condition of one field; raises FieldError, "name=value reason", unless it holds."""
    if not fits:
        raise FieldError(name, getattr(section, name), reason)


def require_choice(section: object, name: str, choices: object) -> None:
    """One of a Literal's values; raises FieldError for any other."""
    options = get_args(choices)
    fits = getattr(section, name) in options
    require_field(section, name, fits, f"is not one of {', '.join(options)}")


def require_range(section: object, names: str, low: float, high: float) -> None:
    """Numbers in range, of fields named with spaces between; raises FieldError for others."""
    for name in names.split():
        value = getattr(section, name)
        fits = isinstance(value, int | float) and low <= value <= high
        require_field(section, name, fits, f"is not within {low}..{high}")


def require_optional(section: object, name: str, low: int, high: int) -> None:
    """None or a whole number in range; raises FieldError for any other."""
    value = getattr(section, name)
    fits = value is None or (type(value) is int and low <= value <= high)
    reason = f"is neither None nor a whole number within {low}..{high}"
    require_field(section, name, fits, reason)


def require_number(name: str, value: object, hint: object) -> None:
    """A value of the plain type `hint`: int, float or bool; raises FieldError for any other."""
    accepted = {int: int, float: int | float, bool: bool}[hint]  # type: ignore[index]
    boolean_ok = hint is bool or not isinstance(value, bool)
    if not (isinstance(value, accepted) and boolean_ok):
        raise FieldError(name, value, "has the wrong type")
