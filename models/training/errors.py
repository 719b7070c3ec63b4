"""What can go wrong in training.

TrainingError
├── RecipeError            the configuration file is wrong; the message names the key
├── CorpusError            a manifest or an audio file is missing or not what it says
└── TrainingStateError     a saved training state does not fit the run that should go on from it
"""

from __future__ import annotations


class TrainingError(Exception):
    """Base of all errors of this package."""


class RecipeError(TrainingError):
    """The recipe file is wrong."""


class CorpusError(TrainingError):
    """A manifest or an audio file is missing or broken."""


class TrainingStateError(TrainingError):
    """A saved training state does not belong to this recipe."""
