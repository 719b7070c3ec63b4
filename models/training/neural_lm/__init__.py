"""Trains the neural language model of `models.neural_lm` on text."""
