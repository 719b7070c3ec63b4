"""The precision of an engine's own network."""

from earshot.models.native.precision import Precision, PrecisionChoice
from earshot.models.native.precision_choice import chosen_precision
from earshot.models.u2.conformer_step import is_native
from earshot.models.u2.u2 import U2Model
from earshot.streaming.errors import InvalidEngineConfig


def engine_precision(model: U2Model, choice: PrecisionChoice) -> Precision:
    """What the encoder's step, the heads and the decoders multiply.

    Raises InvalidEngineConfig where bfloat16 is asked of a model whose encoder torch runs.
    """
    if is_native(model.encoder):
        return chosen_precision(choice, model)
    if choice == "bfloat16":
        raise InvalidEngineConfig(
            "precision is bfloat16: this model's encoder is run by torch here"
        )
    return "float32"
