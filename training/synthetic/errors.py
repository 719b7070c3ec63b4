"""Errors of synthesis; each is a TrainingError.

SynthesisError
├── EngineMissing     a program or voice is not installed; the message names the Debian package
├── BadRecording      an engine gave nothing, silence, a clipped sound or one of a wrong length
└── FolderTaken       the folder holds speech of another plan
"""

from __future__ import annotations

from earshot.training.errors import TrainingError


class SynthesisError(TrainingError):
    """Base of all errors of synthesis."""


class EngineMissing(SynthesisError):
    """A program or a voice is not installed."""


class BadRecording(SynthesisError):
    """What an engine gave is not the prompt."""


class FolderTaken(SynthesisError):
    """The folder holds speech of another plan."""
