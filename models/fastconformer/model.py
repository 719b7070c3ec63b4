"""A NeMo model: features, encoder, and the heads that it has."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models.errors import ModelError
from earshot.models.fastconformer.config import AttentionContext, FastConformerModelConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.fastconformer.heads import CtcHead, Prompt
from earshot.models.features.nemo_mel import NemoMel
from earshot.models.transducer.transducer import Transducer


class FastConformerModel(nn.Module):
    """An encoder whose frames a transducer, a CTC head or both turn into labels.

    transducer, ctc, prompt: None where the configuration has none.
    """

    def __init__(self, config: FastConformerModelConfig) -> None:
        super().__init__()
        self.config = config
        size = config.encoder.size
        self.features = NemoMel(config.features)
        self.encoder = FastConformerEncoder(config.encoder)
        self.prompt = Prompt(size, config.prompt) if config.prompt else None
        self.transducer = Transducer(config.transducer) if config.transducer else None
        self.ctc = CtcHead(size, config.vocab_size) if config.has_ctc else None

    def encode(
        self,
        features: Tensor,
        lengths: Tensor,
        context: AttentionContext | None = None,
        languages: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Features (B, T, F) of lengths (B,) to frames for the heads (B, T', D), lengths (B,).

        context: one that the encoder knows, by default its first. languages: (B,) places in the
        prompt's one-hot. Raises ModelError for a model with a prompt that is told none, or told
        one without.
        """
        if (self.prompt is None) != (languages is None):
            raise ModelError("a language is told to a model with a prompt, and to no other")
        encoded, counts = self.encoder(features, lengths, context)
        if self.prompt is not None and languages is not None:
            encoded = self.prompt.tell(encoded, languages)
        return encoded, counts
