"""What an engine may be asked for a NeMo model's sake, with the ranges."""

import math
from typing import Literal, TypeAlias, get_args

from earshot.streaming.parts.option import Choice, Option

USUAL_BEAM = 4
"""Hypotheses of a transducer's stream, where nobody says."""

MOST_BEAM = 64

LoopChoice: TypeAlias = Literal["auto", "cpu", "kernel", "full_graph", "no_graphs"]
"""Where and how a transducer is decoded greedily; "auto" is the GPU that the model is on."""

FASTCONFORMER_OPTIONS = (
    Option("chunk_size", "integer", ("options", "chunk_size"), low=1, high=4096),
    Option("beam_size", "integer", ("options", "beam_size"), low=1, high=math.inf),
    Option("token_beam", "integer", ("options", "token_beam"), low=1, high=math.inf),
    Option("transducer_beam", "integer", ("options", "transducer_beam"), low=1, high=MOST_BEAM),
    Choice("transducer_loop", get_args(LoopChoice)),
)
