"""Heads that decode by labels: RNN-T and TDT, for any encoder."""
