"""The precision of a network that torch runs."""

from earshot.models.native.precision import Precision, PrecisionChoice
from earshot.streaming.errors import InvalidEngineConfig


def torchs_precision(choice: PrecisionChoice) -> Precision:
    """float32. Raises InvalidEngineConfig where fewer bits are asked for."""
    if choice not in ("auto", "float32"):
        raise InvalidEngineConfig(
            f"precision is {choice}: this model's encoder is run by torch here"
        )
    return "float32"
