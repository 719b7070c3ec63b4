"""Transducers and the encoders below them, beside others that run the same weights."""
