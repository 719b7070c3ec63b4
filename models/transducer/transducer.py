"""A transducer's head: predictor and joint, over frames of any encoder."""

from __future__ import annotations

from torch import Tensor, nn

from earshot.models.transducer.joint import Joint
from earshot.models.transducer.predictor import Predictor, PredictorState
from earshot.models.transducer_config import TransducerConfig


class Transducer(nn.Module):
    """RNN-T (Graves 2012), or TDT (Xu 2023) where the configuration names durations."""

    def __init__(self, config: TransducerConfig) -> None:
        super().__init__()
        self.config = config
        self.predictor = Predictor(config)
        self.joint = Joint(config)

    def hear(self, encoded: Tensor) -> Tensor:
        """Encoded frames (…, D) projected to (…, J), once for all labels."""
        projected: Tensor = self.joint.encoder(encoded)
        return projected

    def say(self, labels: Tensor, state: PredictorState) -> tuple[Tensor, PredictorState]:
        """One label (B,) a row to its projection (B, J), once for all frames, and the new state."""
        output, state = self.predictor(labels, state)
        return self.joint.predictor(output), state

    def split(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of labels and blank (…, V + 1) and of durations (…, n)."""
        width = self.config.vocab_size + 1
        return logits[..., :width], logits[..., width:]
