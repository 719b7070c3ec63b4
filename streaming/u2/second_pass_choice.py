"""The second pass that fits a U2 model's decoder."""

from earshot.models.checkpoints.assembly import LoadedModel, u2_of, writer_of
from earshot.models.native.precision import Precision
from earshot.models.u2.held_to_ctc import CtcHearing
from earshot.models.u2.silent_window import silent_window
from earshot.models.whisper_decoder.whisper_scorer import WhisperScorer
from earshot.streaming.parts.letters import LETTERS
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.part import EndingStep
from earshot.streaming.parts.rescorer import RankedAnew
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.u2.pass_weights import PassWeights
from earshot.streaming.u2.second_pass import SecondPass
from earshot.streaming.u2.written_pass import WrittenPass


def second_pass_steps(
    loaded: LoadedModel,
    heads: CtcNetwork,
    beam_size: int,
    weights: PassWeights,
    parts: ModelParts,
    precision: Precision,
) -> list[EndingStep]:
    """By Whisper's decoder in a model that has it, else by its small ones; with parts that rescore.

    Raises ModelError for a Whisper decoder whose tokens are not there.
    """
    model = u2_of(loaded)
    rescorers = parts.rescorers(lambda name, asked: weights.changed_by(asked.weights).parts[name])
    decoder = model.whisper_decoder
    if decoder is None:
        second_pass = SecondPass(model, heads, loaded.tokenizer, beam_size, weights, precision)
        return [second_pass, RankedAnew(rescorers)]
    scorer = WhisperScorer.of(decoder, writer_of(loaded), precision, silent_window(model))
    hearing = CtcHearing(model, loaded.tokenizer, parts.get(LETTERS))
    return [WrittenPass(scorer, hearing, heads, loaded.tokenizer, weights, rescorers)]
