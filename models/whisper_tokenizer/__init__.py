"""Whisper's tokens: byte-level BPE, special tokens, and what no transcript is made of."""
