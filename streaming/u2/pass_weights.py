"""How much each scorer of a U2 model counts: by the model, the engine, or the stream."""

from dataclasses import dataclass

from earshot.models.config import DecodingConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.weights import Weights


@dataclass(frozen=True)
class PassWeights:
    """Weights as in `DecodingConfig`. Raises InvalidStreamConfig out of their ranges."""

    ctc: float
    reverse: float
    neural_lm: float

    def __post_init__(self) -> None:
        if self.reverse > 1.0:
            raise InvalidStreamConfig(f"reverse_weight is {self.reverse}, not in [0, 1]")

    @classmethod
    def of(cls, model: DecodingConfig) -> "PassWeights":
        """What a model recommends."""
        return cls(model.ctc_weight, model.reverse_weight, model.neural_lm_weight)

    def changed_by(self, asked: Weights) -> "PassWeights":
        """With what is named. Raises InvalidStreamConfig for a name that is no scorer's."""
        known = vars(self)
        for name in asked:
            if name not in known:
                raise InvalidStreamConfig(f"{name}_weight: there are {', '.join(known)} alone")
        return PassWeights(**{**known, **asked})


def engine_weights(model: DecodingConfig, asked: Weights) -> PassWeights:
    """Weights where a stream names none. Raises InvalidEngineConfig."""
    try:
        return PassWeights.of(model).changed_by(asked)
    except InvalidStreamConfig as error:
        raise InvalidEngineConfig(str(error)) from error
