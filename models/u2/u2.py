"""U2 / U2++: a streaming encoder with a CTC head and an attention decoder (Yao 2021)."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models.config import ModelConfig
from earshot.models.layers.ctc import CtcHead
from earshot.models.layers.phone_head import PhoneHead
from earshot.models.transducer.transducer import Transducer
from earshot.models.u2.decoder import BidirectionalDecoder, TransformerDecoder
from earshot.models.u2.encoder import Encoder
from earshot.models.whisper_decoder.network import WhisperDecoder
from earshot.models.whisper_decoder_config import WhisperDecoderConfig


class U2Model(nn.Module):
    """Encoder, CTC head and decoder under one configuration.

    phone_ctc, transducer: heads over phones, and over the tokens once more; None where the
    configuration has none.
    """

    decoder: TransformerDecoder | BidirectionalDecoder | WhisperDecoder
    phone_ctc: PhoneHead | None
    transducer: Transducer | None

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        size = config.encoder.encoded_size
        self.encoder = Encoder(config.encoder)
        self.ctc = CtcHead(config.vocab_size, size, config.blank_id)
        self.phone_ctc = None
        if config.phones:
            self.phone_ctc = PhoneHead(len(config.phones), config.phone_rate, size)
        self.decoder = _build_decoder(config, size)
        self.transducer = Transducer(config.transducer) if config.transducer else None

    @property
    def blank_id(self) -> int:
        """The CTC head's."""
        return self.config.blank_id

    @property
    def phone_rate(self) -> int:
        """Frames of the phone head for each of the encoder's."""
        return self.config.phone_rate

    @property
    def left_decoder(self) -> TransformerDecoder:
        """The left-to-right decoder over the model's own tokens; only of a model that has one."""
        if isinstance(self.decoder, BidirectionalDecoder):
            return self.decoder.left_decoder
        assert isinstance(self.decoder, TransformerDecoder)
        return self.decoder

    @property
    def right_decoder(self) -> TransformerDecoder | None:
        """The right-to-left decoder, None in a model without one."""
        if isinstance(self.decoder, BidirectionalDecoder):
            return self.decoder.right_decoder
        return None

    @property
    def whisper_decoder(self) -> WhisperDecoder | None:
        """Whisper's decoder, which has tokens of its own; None in a model with another."""
        return self.decoder if isinstance(self.decoder, WhisperDecoder) else None

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        """(…, D) encoder frames to (…, V) log-probabilities, float32."""
        log_probs: Tensor = self.ctc(encoded)
        return log_probs

    def phone_log_probs(self, encoded: Tensor) -> Tensor:
        """(…, T, D) encoder frames to (…, T * phone_rate, phones + 1), float32; blank is 0.

        Only of a model with phones.
        """
        assert self.phone_ctc is not None
        log_probs: Tensor = self.phone_ctc(encoded)
        return log_probs


def _build_decoder(
    config: ModelConfig, size: int
) -> TransformerDecoder | BidirectionalDecoder | WhisperDecoder:
    decoder = config.decoder
    if isinstance(decoder, WhisperDecoderConfig):
        return WhisperDecoder(decoder)
    if decoder.bidirectional:
        return BidirectionalDecoder(decoder, config.vocab_size, size)
    return TransformerDecoder(decoder, decoder.num_blocks, config.vocab_size, size)
