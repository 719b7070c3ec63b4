"""The parts of a transducer's head: frozen, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from earshot.models.config_checks import require, require_choice, require_range
from earshot.models.config_limits import MAX_DIMENSION, MAX_VOCABULARY
from earshot.models.errors import quote

JointActivation = Literal["relu", "sigmoid", "tanh"]

MAX_DURATION = 64
"""Frames that one label may last."""


@dataclass(frozen=True)
class TransducerConfig:
    """An RNN-T (Graves 2012), or with `durations` a TDT (Xu 2023), over V labels.

    vocab_size: V; the blank is unit V. encoder_size: D, of the frames that it hears.
    predictor_size: H, of the LSTM over labels, of `predictor_layers`. joint_size: J.
    durations: in frames, what a label or blank may advance by; none, an RNN-T's one for a blank.
    max_symbols: labels within one frame before the next is forced. Raises ConfigError.
    """

    vocab_size: int
    encoder_size: int
    predictor_size: int
    joint_size: int
    predictor_layers: int = 1
    activation: JointActivation = "relu"
    durations: tuple[int, ...] = ()
    max_symbols: int = 10

    def __post_init__(self) -> None:
        require_range(self, "vocab_size", 1, MAX_VOCABULARY)
        require_range(self, "encoder_size predictor_size joint_size", 1, MAX_DIMENSION)
        require_range(self, "predictor_layers", 1, 16)
        require_choice(self, "activation", JointActivation)
        require_range(self, "max_symbols", 1, 1_000)
        self._require_durations()

    def _require_durations(self) -> None:
        require(isinstance(self.durations, tuple), "durations are not a list of frames")
        for frames in self.durations:
            good = type(frames) is int and 0 <= frames <= MAX_DURATION
            require(good, f"durations: {quote(frames)} is not within 0..{MAX_DURATION}")
        distinct = len(set(self.durations)) == len(self.durations)
        require(distinct, "durations: one is named twice")
        require(
            not self.durations or max(self.durations) > 0,
            "durations: nothing but 0 would never end",
        )

    @property
    def kind(self) -> Literal["rnnt", "tdt"]:
        """Which of the two it is."""
        return "tdt" if self.durations else "rnnt"

    @property
    def blank_id(self) -> int:
        """V."""
        return self.vocab_size

    @property
    def num_outputs(self) -> int:
        """Outputs of the joint: labels, the blank, durations."""
        return self.vocab_size + 1 + len(self.durations)
