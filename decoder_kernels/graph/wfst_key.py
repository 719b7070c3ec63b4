"""The key by which the search tells tokens apart: node, last label and context, in 64 bits.

As ``make_key`` in ``csrc/wfst/wfst_state.h``. A test holds the two together.
"""

NODE_BITS = 26
LABEL_BITS = 14
CONTEXT_BITS = 24

NODE_SHIFT = LABEL_BITS + CONTEXT_BITS
CONTEXT_MASK = (1 << CONTEXT_BITS) - 1
