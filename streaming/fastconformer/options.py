"""What an engine may be asked for a NeMo model's sake, with the ranges."""

import math

from earshot.streaming.parts.option import Option

USUAL_BEAM = 4
"""Hypotheses of a transducer's stream, where nobody says."""

MOST_BEAM = 64

FASTCONFORMER_OPTIONS = (
    Option("chunk_size", "integer", ("options", "chunk_size"), low=1, high=4096),
    Option("beam_size", "integer", ("options", "beam_size"), low=1, high=math.inf),
    Option("token_beam", "integer", ("options", "token_beam"), low=1, high=math.inf),
    Option("transducer_beam", "integer", ("options", "transducer_beam"), low=1, high=MOST_BEAM),
)
