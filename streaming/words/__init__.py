"""The words of a decoding graph."""
