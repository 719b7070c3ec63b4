"""Errors of training.

TrainingError
├── RecipeError            the configuration file is wrong; the message names the key
├── CorpusError            a manifest or an audio file is missing or not what it says
├── Diverged               gradients, weights or measurements of a run are no finite numbers
├── DeviceMissing          the recipe is to be trained on a device that is not here
├── NoPlace                a run or a model cannot be written where it should be
└── TrainingStateError     a saved training state does not fit the run that should go on from it
"""

from __future__ import annotations

from earshot.errors import EarshotError


class TrainingError(EarshotError):
    """Base of all errors of this package."""


class RecipeError(TrainingError):
    """The recipe file is wrong."""


class CorpusError(TrainingError):
    """A manifest or an audio file is missing or broken."""


class Diverged(TrainingError):
    """Gradients, weights or measurements of a run are no finite numbers any more."""


class DeviceMissing(TrainingError):
    """The device asked for is not here."""


class NoPlace(TrainingError):
    """A folder cannot be written to."""


class TrainingStateError(TrainingError):
    """A saved training state does not belong to this recipe."""
