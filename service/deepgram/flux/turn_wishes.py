"""When turns end, as a session of Flux asks for it: in its query, or later in a Configure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from earshot.service.errors import BadRequest
from earshot.service.request.query_values import QueryValues
from earshot.streaming.stream_config import EndpointConfig

LEAST_MS, MOST_MS = 500, 60_000
_RANGES = {
    "eager_eot_threshold": (0.3, 0.9),
    "eot_threshold": (0.5, 1.0),
    "eot_timeout_ms": (LEAST_MS, MOST_MS),
}
THRESHOLDS = tuple(_RANGES)


@dataclass(frozen=True)
class TurnWishes:
    """Flux's thresholds and their defaults.

    eot_threshold: how likely a turn has to be over to end; 1 leaves it to the silence.
    eager_eot_threshold: how likely it has to be to be told before; None: it is not told.
    eot_timeout_ms: the silence that ends any turn. Raises BadRequest for an eager threshold above
    the other: it could never come first.
    """

    eot_threshold: float = 0.7
    eager_eot_threshold: float | None = None
    eot_timeout_ms: int = 5000

    def __post_init__(self) -> None:
        if (self.eager_eot_threshold or 0) > self.eot_threshold:
            raise BadRequest(
                f"eager_eot_threshold={self.eager_eot_threshold}: must not be above "
                f"eot_threshold, which is {self.eot_threshold}"
            )

    @classmethod
    def of_query(cls, values: QueryValues) -> "TurnWishes":
        """Read them of a query. Raises BadRequest."""
        return cls(
            values.optional_number("eot_threshold", *_RANGES["eot_threshold"]) or cls.eot_threshold,
            values.optional_number("eager_eot_threshold", *_RANGES["eager_eot_threshold"]),
            values.integer("eot_timeout_ms", LEAST_MS, MOST_MS, cls.eot_timeout_ms),
        )

    def changed_by(self, thresholds: Mapping[str, object]) -> "TurnWishes":
        """With those that a Configure names; null stays. Raises BadRequest."""
        named = {name: value for name, value in thresholds.items() if value is not None}
        for name in named:
            if name not in _RANGES:
                raise BadRequest(f"thresholds.{name}: there is none, but {', '.join(_RANGES)}")
        numbers = {name: _number(name, value) for name, value in named.items()}
        timeout_ms = round(numbers.pop("eot_timeout_ms", self.eot_timeout_ms))
        return replace(self, eot_timeout_ms=timeout_ms, **numbers)

    @property
    def told(self) -> Mapping[str, object]:
        """The thresholds that hold, as messages have them."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def endpoint(self, now: EndpointConfig) -> EndpointConfig:
        """The rules with these thresholds; unchanged of a model that cannot tell ends of turns."""
        if now.turn is None:
            return now
        turn = replace(
            now.turn, confidence=self.eot_threshold, eager_confidence=self.eager_eot_threshold
        )
        return replace(now, silence_ms=max(turn.least_ms, self.eot_timeout_ms), turn=turn)


def _number(name: str, value: object) -> float:
    """A number of JSON within the threshold's range, which NaN is not."""
    low, high = _RANGES[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(f"thresholds.{name}: must be a number from {low:g} to {high:g}")
    return float(value)
