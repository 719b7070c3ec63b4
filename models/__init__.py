"""Networks and checkpoints: U2/U2++ encoders, CTC, attention decoders, tokenizers, loaders.

Knows nothing of streams, sockets or search kernels.
"""
