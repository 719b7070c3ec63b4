"""Errors of this package alone.

LanguageError
└── UnsayableText     text that has no reading in plain English words
"""

from earshot.errors import EarshotError


class LanguageError(EarshotError):
    """Base of the errors of this package."""


class UnsayableText(LanguageError):
    """The text has no reading."""
