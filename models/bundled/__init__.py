"""The model that ships with Earshot; CARD.md says what it can do and what it cannot."""

from pathlib import Path


def bundled_model_dir() -> Path:
    """The directory that holds it."""
    return Path(__file__).parent
