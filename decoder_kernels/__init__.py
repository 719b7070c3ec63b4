"""CTC searches, over prefixes and in decoding graphs, with boosts: one source for CPU and CUDA."""
