"""The graph search in a program, over log-probabilities of anybody's CTC model."""
