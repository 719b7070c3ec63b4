"""WFST beam search in a decoding graph, and what comes out of it."""
