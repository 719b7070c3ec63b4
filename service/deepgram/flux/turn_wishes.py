"""When turns end, as a session of Flux asks for it: in its query, or later in a Configure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from earshot.service.errors import BadRequest
from earshot.service.request.query_values import QueryValues
from earshot.streaming.stream_config import EndpointConfig

THRESHOLDS = ("eager_eot_threshold", "eot_threshold", "eot_timeout_ms")
LEAST_MS, MOST_MS = 500, 60_000


@dataclass(frozen=True)
class TurnWishes:
    """Flux's thresholds and their defaults.

    eot_threshold: how likely a turn has to be over to end; 1 leaves it to the silence.
    eager_eot_threshold: how likely it has to be to be told before; None: it is not told.
    eot_timeout_ms: the silence that ends any turn.
    """

    eot_threshold: float = 0.7
    eager_eot_threshold: float | None = None
    eot_timeout_ms: int = 5000

    def changed_by(self, values: QueryValues) -> "TurnWishes":
        """With those that are named. Raises BadRequest."""
        threshold = values.optional_number("eot_threshold", 0.5, 1)
        eager = values.optional_number("eager_eot_threshold", 0.3, 0.9)
        asked = TurnWishes(
            self.eot_threshold if threshold is None else threshold,
            self.eager_eot_threshold if eager is None else eager,
            values.integer("eot_timeout_ms", LEAST_MS, MOST_MS, self.eot_timeout_ms),
        )
        if (asked.eager_eot_threshold or 0) > asked.eot_threshold:
            raise BadRequest(
                f"eager_eot_threshold={asked.eager_eot_threshold}: must not be above "
                f"eot_threshold, which is {asked.eot_threshold}"
            )
        return asked

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
