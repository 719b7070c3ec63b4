"""What an engine may be asked for a U2 model's sake, with the ranges."""

import math

from earshot.streaming.parts.option import Option
from earshot.streaming.transducer.options import TRANSDUCER_OPTIONS

MOST_FRAMES = 4096

U2_OPTIONS = (
    Option("chunk_size", "integer", ("options", "chunk_size"), low=1, high=MOST_FRAMES),
    Option("num_left_chunks", "integer", ("options", "num_left_chunks"), low=-1, high=MOST_FRAMES),
    Option("beam_size", "integer", ("options", "beam_size"), low=1, high=math.inf),
    Option("token_beam", "integer", ("options", "token_beam"), low=1, high=math.inf),
    *TRANSDUCER_OPTIONS,
)
