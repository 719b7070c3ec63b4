"""Between which bounds the numbers of a recipe's section may lie."""

from __future__ import annotations

import math

from earshot.training.errors import RecipeError


class Ranges:
    """Checks fields of `config`, the section called `section`. All raise RecipeError."""

    def __init__(self, section: str, config: object) -> None:
        self._section = section
        self._config = config

    def at_least(self, least: float, *names: str) -> None:
        """Numbers from `least` on."""
        self._require(least, math.inf, f"has to be at least {least:g}", names)

    def above_zero(self, *names: str) -> None:
        """Numbers above 0."""
        self._require(math.ulp(0.0), math.inf, "has to be above 0", names)

    def between(self, least: float, most: float, *names: str) -> None:
        """Numbers of a range, its ends included."""
        self._require(least, most, f"has to be between {least:g} and {most:g}", names)

    def ordered(self, *names: str) -> None:
        """Pairs whose first number is not above the second."""
        for name in names:
            low, high = getattr(self._config, name)
            if not -math.inf < low <= high < math.inf:
                raise RecipeError(f"{self._section}.{name}: {low} is above {high}")

    def _require(self, least: float, most: float, wanted: str, names: tuple[str, ...]) -> None:
        for name in names:
            value = getattr(self._config, name)
            numbers = value if isinstance(value, tuple) else (value,)
            if not all(least <= number <= most and number < math.inf for number in numbers):
                raise RecipeError(f"{self._section}.{name}: {wanted}, not {value}")
