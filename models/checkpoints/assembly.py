"""A model from its parts: network, weights and tokenizer that are checked to fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor, nn

from earshot.models.checkpoints.filled_network import fill
from earshot.models.checkpoints.layout import without_memory
from earshot.models.config import ModelConfig
from earshot.models.errors import ModelError, TokenizerError, quote
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import CtcUnits
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_tokenizer.tokenizer import WhisperTokenizer


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to decode with: evaluation mode, no gradients.

    model: the network, whose own family alone looks into it (`u2_of`).
    directory: where it was read, with what else lies there; None for one that was made here.
    weights: the file that makes it what it is.
    family: which recogniser it is for (`streaming/assembly/families.py`).
    languages: BCP 47 tags of what it was trained for, empty where its directory does not say.
    ctc: what decoding graphs are searched over; None for a network without a CTC head.
    writer: the tokens of a Whisper decoder; None for a network without one.
    """

    name: str
    model: nn.Module
    tokenizer: Tokenizer
    format: str
    directory: Path | None = None
    weights: Path | None = None
    family: str = "u2"
    languages: tuple[str, ...] = ()
    ctc: CtcUnits | None = None
    writer: WhisperTokenizer | None = None

    def without_network(self) -> LoadedModel:
        """All but the network, whose weights may then leave memory."""
        return replace(self, model=nn.Module())


def u2_of(loaded: LoadedModel) -> U2Model:
    """The network of a U2 model. Raises ModelError for another family's."""
    if not isinstance(loaded.model, U2Model):
        raise ModelError(f"{loaded.name} is a model of the family {loaded.family!r}, not 'u2'")
    return loaded.model


def writer_of(loaded: LoadedModel) -> WhisperTokenizer:
    """The tokens of a model's Whisper decoder. Raises ModelError where they are not there."""
    if loaded.writer is None:
        raise ModelError(f"{loaded.name} has Whisper's decoder, and no tokens of it")
    return loaded.writer


def assemble(
    name: str,
    config: ModelConfig,
    weights: Mapping[str, Tensor],
    tokenizer: Tokenizer,
    model_format: str,
) -> LoadedModel:
    """A U2 model from its parts, after checking that they fit.

    The network is laid out without memory first, so a configuration can never make us allocate
    more than the weight file holds. Nobody else may use the weights, whose memory it may take.
    Layers wait for those that are stored in a file (`models/native/late_weights.py`).
    Raises MissingKeys, UnknownKeys, ShapeMismatch, TokenizerError.
    """
    model = lay_out(config)
    if tokenizer.vocab_size != config.vocab_size:
        raise TokenizerError(
            f"the units table has {tokenizer.vocab_size} units, the model {config.vocab_size}"
        )
    if config.transducer is not None and config.blank_id not in tokenizer.silent_units:
        symbol = quote(tokenizer.token(config.blank_id))
        raise TokenizerError(f"a transducer could say {symbol}, which is the CTC head's blank")
    fill(model, weights, given_up=True, late=_packed_layers(model))
    ctc = CtcUnits(config.blank_id, config.phones)
    return LoadedModel(name, model, tokenizer, model_format, ctc=ctc)


def _packed_layers(model: U2Model) -> list[nn.Module]:
    """Modules whose weights native layers are packed from, one module at a time."""
    layers: list[nn.Module] = [*model.encoder.layers]
    if (writer := model.whisper_decoder) is not None:
        layers += [*writer.layers, writer.token_embedding]
    return layers


def lay_out(config: ModelConfig) -> U2Model:
    """The network with shapes but neither memory nor values."""
    with without_memory():
        return U2Model(config)
