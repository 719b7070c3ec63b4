"""The language models that a request names, and how much each counts."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from earshot.streaming.errors import InvalidStreamConfig

T = TypeVar("T")
NAME = re.compile(r"[a-z0-9_-]{1,64}", re.ASCII)
SWITCHES = ("on", "off")
"""What `lm` says of the graph's own model."""

OWN = "on"
"""The graph's own model, as one of a mix."""

RESERVED = (*SWITCHES, "true", "false")
"""Names of no other model: that one, and what clients may take for its switch."""

MOST_MODELS = 4
"""Of one stream: each is looked up for every word of its finals."""

ROUNDING = 0.02
"""As far as four weights of two digits may be from 1 in all."""

_SHARE = re.compile(r"(?P<name>[^:]*)(?::(?P<share>\d{0,3}(?:\.\d{0,6})?))?", re.ASCII)
_SHOWN = 80


@dataclass(frozen=True)
class LmMix:
    """Language models by name, each with its share of every word's probability.

    The graph's own may be one of them, `OWN`. Raises InvalidStreamConfig for none, for that one
    alone, for more than `MOST_MODELS`, for a name that is none or comes twice, and for shares that
    are not above 0 or do not sum to 1.
    """

    shares: tuple[tuple[str, float], ...]

    def __post_init__(self) -> None:
        names = self.names
        if not 1 <= len(names) <= MOST_MODELS:
            raise InvalidStreamConfig(f"lm names {len(names)} models, 1 to {MOST_MODELS} may be")
        for name in names:
            if not is_name(name) and (name != OWN or len(names) == 1):
                raise InvalidStreamConfig(f"lm={name[:_SHOWN]}: must be on, off, or a model's name")
        if len(set(names)) < len(names):
            raise InvalidStreamConfig("lm names a model twice")
        weights = [share for _, share in self.shares]
        if not all(0.0 < share <= 1.0 for share in weights):  # written so that NaN fails
            raise InvalidStreamConfig(f"lm={self}: weights must be above 0")
        if not math.isclose(sum(weights), 1.0, rel_tol=0, abs_tol=ROUNDING):
            raise InvalidStreamConfig(f"lm={self}: the weights must sum to 1")

    def __str__(self) -> str:
        if len(self.shares) == 1:
            return self.shares[0][0]
        return ",".join(f"{name}:{share:g}" for name, share in self.shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The models' names."""
        return tuple(name for name, _ in self.shares)

    @property
    def others(self) -> tuple[str, ...]:
        """Their names, but for the graph's own."""
        return tuple(name for name in self.names if name != OWN)

    def filled(self, own: T | None, others: Iterable[T]) -> tuple[T, ...]:
        """Something of each model, in the mix's order: of the graph's own, and of `others`."""
        rest, found = iter(others), []
        for name in self.names:
            each = own if name == OWN else next(rest)
            assert each is not None  # or `OWN` would have been refused
            found.append(each)
        return tuple(found)

    @property
    def weights(self) -> tuple[float, ...]:
        """The shares, which sum to 1 but for the last bits."""
        total = sum(share for _, share in self.shares)
        return tuple(share / total for _, share in self.shares)

    @classmethod
    def read(cls, text: str) -> "LmMix":
        """The mix that a request writes: `NAME`, or `NAME:SHARE,NAME:SHARE`."""
        parts = text.split(",", MOST_MODELS)
        if len(parts) > MOST_MODELS:
            raise InvalidStreamConfig(f"lm names more than {MOST_MODELS} models")
        return cls(tuple(_share(part.strip(), alone=len(parts) == 1) for part in parts))


LmChoice: TypeAlias = bool | LmMix
"""What `lm` may be: off, the graph's own model, or others by name."""


def is_name(text: str) -> bool:
    """Whether a language model may be called so."""
    return NAME.fullmatch(text) is not None and text not in RESERVED


def read_lm(text: str) -> LmChoice:
    """A request's `lm`. Raises InvalidStreamConfig for what is no name, nor `on` nor `off`."""
    switch = text.strip().lower()
    return switch == "on" if switch in SWITCHES else LmMix.read(text)


def show_lm(choice: LmChoice) -> str:
    """What a request would write."""
    return str(choice) if isinstance(choice, LmMix) else "on" if choice else "off"


def _share(part: str, *, alone: bool) -> tuple[str, float]:
    match = _SHARE.fullmatch(part)
    if match is None:
        said = "must be on, off, or names with weights, such as a:0.7,b:0.3"
        raise InvalidStreamConfig(f"lm={part[:_SHOWN]}: {said}")
    if match["share"] is None and not alone:
        raise InvalidStreamConfig(f"lm={part[:_SHOWN]}: of several models each needs a weight")
    if match["name"] == OWN and alone and match["share"] is not None:
        raise InvalidStreamConfig(f"lm={part[:_SHOWN]}: on alone takes no weight")
    if match["share"] in ("", "."):
        raise InvalidStreamConfig(f"lm={part[:_SHOWN]}: a weight is missing behind the colon")
    return match["name"], 1.0 if match["share"] is None else float(match["share"])
