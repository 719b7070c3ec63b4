"""Streams decoded by transducers (RNN-T, TDT), whatever encoder they hear by."""
