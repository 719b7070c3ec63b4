"""The section of a recipe on a transducer's head, which learns on a model that stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

from earshot.models.config import ModelConfig
from earshot.models.errors import ConfigError
from earshot.models.transducer_config import JointActivation, TransducerConfig
from earshot.training.errors import RecipeError
from earshot.training.recipe.ranges import Ranges


@dataclass(frozen=True)
class TransducerTrainingConfig:
    """Sizes of predictor and joint, and what keeps the head from learning transcripts by heart.

    durations: of a TDT, in frames; none, an RNN-T. window_labels: numbers of labels that each frame
    is joined with, see `label_windows`. dropout, sigma: see `transducer_losses`.
    """

    predictor_size: int = 256
    predictor_layers: int = 1
    joint_size: int = 256
    activation: JointActivation = "relu"
    durations: tuple[int, ...] = ()
    max_symbols: int = 10
    window_labels: int = 12
    dropout: float = 0.1
    sigma: float = 0.0

    def __post_init__(self) -> None:
        ranges = Ranges("transducer", self)
        ranges.at_least(3, "window_labels")
        ranges.at_least(0, "sigma")
        ranges.between(0, 0.9, "dropout")

    def head(self, model: ModelConfig) -> TransducerConfig:
        """The configuration of the head on a model. Raises RecipeError."""
        try:
            return TransducerConfig(
                vocab_size=model.vocab_size,
                encoder_size=model.encoder.encoded_size,
                predictor_size=self.predictor_size,
                joint_size=self.joint_size,
                predictor_layers=self.predictor_layers,
                activation=self.activation,
                durations=self.durations,
                max_symbols=self.max_symbols,
            )
        except ConfigError as error:
            raise RecipeError(f"transducer: {error}") from error
