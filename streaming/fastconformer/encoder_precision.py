"""The precision of a FastConformer's native layers."""

from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.native.precision import Precision, PrecisionChoice
from earshot.models.native.weights import runs_natively
from earshot.streaming.parts.torchs_precision import torchs_precision


def encoder_precision(encoder: FastConformerEncoder, choice: PrecisionChoice) -> Precision:
    """The precision asked for; `auto` is float32 until fewer bits are measured on trained weights.

    Raises InvalidEngineConfig where fewer bits are asked of an encoder that torch runs.
    """
    if choice == "auto" or not runs_natively(encoder):
        return torchs_precision(choice)
    return choice
