"""The second pass that fits a U2 model's decoder."""

from earshot.models.checkpoints.assembly import LoadedModel, u2_of, writer_of
from earshot.models.native.precision import Precision
from earshot.models.u2.held_to_ctc import CtcHearing
from earshot.models.u2.silent_window import silent_window
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer
from earshot.streaming.parts.letters import LETTERS
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.part import EndingStep
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.u2.pass_weights import PassWeights
from earshot.streaming.u2.second_pass import SecondPass
from earshot.streaming.u2.written_pass import WrittenPass


def second_pass_of(
    loaded: LoadedModel,
    heads: CtcNetwork,
    beam_size: int,
    weights: PassWeights,
    parts: ModelParts,
    precision: Precision,
) -> EndingStep:
    """By Whisper's decoder in a model that has it, else by its small ones.

    Raises ModelError for a Whisper decoder whose tokens are not there.
    """
    model = u2_of(loaded)
    decoder = model.whisper_decoder
    if decoder is None:
        return SecondPass(model, heads, loaded.tokenizer, beam_size, weights, precision)
    return WrittenPass(
        WhisperScorer.of(decoder, writer_of(loaded), precision, silent_window(model)),
        CtcHearing(model, loaded.tokenizer, parts.get(LETTERS)),
        heads,
        loaded.tokenizer,
        weights,
        parts.names,
    )
