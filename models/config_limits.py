"""The largest sizes that a configuration may name, of any network."""

MAX_DIMENSION = 16_384
MAX_BLOCKS = 256
MAX_VOCABULARY = 1_000_000
