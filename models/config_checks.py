"""Checks of configuration values, done once, when a configuration is made."""

from __future__ import annotations

from typing import get_args

from earshot.models.errors import ConfigError, quote


def require(condition: bool, message: str) -> None:
    """A condition of a value; raises ConfigError with the message unless it holds."""
    if not condition:
        raise ConfigError(message)


def require_choice(section: object, name: str, choices: object) -> None:
    """One of a Literal's values; raises ConfigError for any other."""
    value = getattr(section, name)
    options = get_args(choices)
    require(value in options, f"{name}={quote(value)} is not one of {', '.join(options)}")


def require_range(section: object, names: str, low: float, high: float) -> None:
    """Numbers in range, of fields named with spaces between; raises ConfigError for others."""
    for name in names.split():
        value = getattr(section, name)
        require(
            isinstance(value, int | float) and low <= value <= high,
            f"{name}={quote(value)} is not within {low}..{high}",
        )


def require_optional(section: object, name: str, low: int, high: int) -> None:
    """None or a whole number in range; raises ConfigError for any other."""
    value = getattr(section, name)
    require(
        value is None or (type(value) is int and low <= value <= high),
        f"{name}={quote(value)} is neither None nor a whole number within {low}..{high}",
    )


def require_number(name: str, value: object, hint: object) -> None:
    """A value of the plain type `hint`: int, float or bool; raises ConfigError for any other."""
    accepted = {int: int, float: int | float, bool: bool}[hint]  # type: ignore[index]
    boolean_ok = hint is bool or not isinstance(value, bool)
    require(isinstance(value, accepted) and boolean_ok, f"{name}={quote(value)} has the wrong type")
