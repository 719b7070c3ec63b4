"""The section of a recipe on a student: a FastConformer that learns from the model of [start]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from earshot.models.config import FeatureConfig
from earshot.models.errors import ConfigError
from earshot.models.fastconformer.config import (
    AttentionContext,
    FastConformerConfig,
    FastConformerModelConfig,
)
from earshot.models.layers.subsampling import StemShape
from earshot.models.transducer_config import JointActivation, TransducerConfig
from earshot.training.errors import RecipeError
from earshot.training.recipe.ranges import Ranges

if TYPE_CHECKING:
    from earshot.training.recipe.config import Recipe

STEM = StemShape((1, 1, 1), (2, 2, 2))
"""Of a causal stem of rate 8: a frame hears nothing behind the feature frame at its own place."""


@dataclass(frozen=True)
class StudentConfig:
    """Sizes of a causal FastConformer with heads of RNN-T and CTC, and how it is taught.

    mel_bins: of NeMo's features. feed_forward_factor: times `size`. contexts: [left, right] in
    frames of 80 ms; a batch draws one, the first is the model's own. frames_weight: of the mean
    squared distance to the teacher's frames, posteriors_weight: of the divergence from its CTC
    posteriors, nats a frame, ctc_weight: of CTC, all in the sum with the transducer's loss.
    window_labels: see `label_windows`; at least 6, since a student's frame is
    two of its teacher's. dropout: see `transducer_losses`.
    """

    mel_bins: int = 80
    size: int = 176
    layers: int = 12
    heads: int = 4
    feed_forward_factor: int = 4
    stem_channels: int = 176
    kernel: int = 9
    contexts: tuple[tuple[int, int], ...] = ((70, 13), (70, 6), (70, 1), (70, 0))
    predictor_size: int = 320
    joint_size: int = 320
    activation: JointActivation = "relu"
    max_symbols: int = 10
    frames_weight: float = 1.0
    posteriors_weight: float = 1.0
    ctc_weight: float = 0.3
    window_labels: int = 12
    dropout: float = 0.1

    def __post_init__(self) -> None:
        ranges = Ranges("student", self)
        ranges.at_least(1, "feed_forward_factor")
        ranges.at_least(6, "window_labels")
        ranges.at_least(0, "frames_weight", "posteriors_weight", "ctc_weight")
        ranges.between(0, 0.9, "dropout")
        self.network(vocab_size=1)

    @property
    def features(self) -> FeatureConfig:
        """What the student hears. Raises RecipeError."""
        try:
            return FeatureConfig(kind="nemo", num_mel_bins=self.mel_bins)
        except ConfigError as error:
            raise RecipeError(f"student.mel_bins: {error}") from error

    def network(self, vocab_size: int) -> FastConformerModelConfig:
        """The configuration of a student over so many labels. Raises RecipeError."""
        features = self.features
        try:
            return FastConformerModelConfig(
                vocab_size, self._encoder(), features, self._head(vocab_size), has_ctc=True
            )
        except ConfigError as error:
            raise RecipeError(f"student: {error}") from error

    def _encoder(self) -> FastConformerConfig:
        return FastConformerConfig(
            features_size=self.mel_bins,
            size=self.size,
            layers=self.layers,
            heads=self.heads,
            feed_forward_size=self.feed_forward_factor * self.size,
            stem_channels=self.stem_channels,
            subsampling_factor=STEM.rate,
            causal_stem=True,
            kernel=self.kernel,
            conv_norm="layer_norm",
            causal_convolution=True,
            scale_input=False,
            normalise="none",
            contexts=tuple(AttentionContext(*each) for each in self.contexts),
            context_style="chunked_limited",
        )

    def _head(self, vocab_size: int) -> TransducerConfig:
        return TransducerConfig(
            vocab_size=vocab_size,
            encoder_size=self.size,
            predictor_size=self.predictor_size,
            joint_size=self.joint_size,
            activation=self.activation,
            max_symbols=self.max_symbols,
        )


def check_student(recipe: Recipe) -> None:
    """Other sections, which have nothing to say beside a student's. Raises RecipeError."""
    if recipe.start is None or recipe.start.model is None:
        raise RecipeError("student: it learns from a trained model, which [start] names")
    if (recipe.phones, recipe.distil, recipe.transducer) != (None, None, None):
        raise RecipeError("student: nothing else is learnt beside it")
    if recipe.network != type(recipe.network)():
        raise RecipeError("network: a student's sizes are those of [student]")
    if recipe.waveform is None:
        raise RecipeError("student: two models hear the same sound, which [waveform] changes")
    if recipe.optimiser.group_rates or recipe.optimiser.frozen_groups:
        raise RecipeError("student: all of it learns by peak_rate")
    if recipe.checkpoints.start_share > 0:
        raise RecipeError("checkpoints.start_share: a student begins with nothing")
    if recipe.checkpoints.stored != "float32":
        raise RecipeError("checkpoints.stored: a student's archive holds float32")
