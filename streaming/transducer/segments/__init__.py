"""Transducers over segments: encoder and predictor begin anew with each."""
