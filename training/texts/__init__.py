"""Texts for units, language models and pronunciations."""
