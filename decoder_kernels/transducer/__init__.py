"""Transducers (RNN-T, TDT) decoded by label looping, natively."""
