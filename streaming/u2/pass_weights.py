"""How much each scorer of a U2 model counts: by the model, the engine, or the stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from earshot.models.config import DecodingConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.parts.table import PARTS
from earshot.streaming.weights import Weights


@dataclass(frozen=True)
class PassWeights:
    """Weights as in `DecodingConfig`, those of parts by the parts' names.

    Raises InvalidStreamConfig out of their ranges.
    """

    ctc: float
    reverse: float
    parts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reverse > 1.0:
            raise InvalidStreamConfig(f"reverse_weight is {self.reverse}, not in [0, 1]")

    @classmethod
    def of(cls, model: DecodingConfig) -> "PassWeights":
        """The weights that a model recommends."""
        parts = {
            name: part.recommended(model)
            for name, part in PARTS.items()
            if part.recommended is not None
        }
        return cls(model.ctc_weight, model.reverse_weight, parts)

    def changed_by(self, asked: Weights) -> "PassWeights":
        """With what is named. Raises InvalidStreamConfig for a name that is no scorer's."""
        known = {"ctc": self.ctc, "reverse": self.reverse, **self.parts}
        for name in asked:
            if name not in known:
                raise InvalidStreamConfig(f"{name}_weight: there are {', '.join(known)} alone")
        changed = {**known, **asked}
        return PassWeights(changed.pop("ctc"), changed.pop("reverse"), changed)


def engine_weights(model: DecodingConfig, asked: Weights) -> PassWeights:
    """Weights where a stream names none. Raises InvalidEngineConfig."""
    try:
        return PassWeights.of(model).changed_by(asked)
    except InvalidStreamConfig as error:
        raise InvalidEngineConfig(str(error)) from error
