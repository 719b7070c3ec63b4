"""Trains the neural language model of `earshot.models.neural_lm` on text."""
