"""Optional parts of a model, each a row of one table: a decoding graph, a neural language model."""
