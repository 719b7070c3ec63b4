"""The decoding graph: in memory, as a file, and what the search needs to know of it."""
