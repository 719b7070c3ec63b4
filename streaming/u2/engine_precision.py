"""The precision of an engine's own network."""

from earshot.models.native.precision import Precision, PrecisionChoice
from earshot.models.native.precision_choice import chosen_precision
from earshot.models.u2.conformer_step import is_native
from earshot.models.u2.u2 import U2Model
from earshot.streaming.parts.torchs_precision import torchs_precision


def engine_precision(model: U2Model, choice: PrecisionChoice) -> Precision:
    """What the encoder's step, the heads and the decoders multiply.

    Raises InvalidEngineConfig where fewer bits are asked of a model whose encoder torch runs.
    """
    if is_native(model.encoder):
        return chosen_precision(choice, model)
    return torchs_precision(choice)
