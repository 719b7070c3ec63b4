"""WeNet's names of how a U2 model decodes.

`attention` searches each segment anew with the decoder alone, which takes many times as long as
rescoring and holds up the step; its results ignore boosts.
"""

from typing import Literal, TypeAlias, get_args

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.stream_config import StreamConfig

DecodingMode: TypeAlias = Literal[
    "attention_rescoring",
    "ctc_prefix_beam_search",
    "ctc_wfst_beam_search",
    "ctc_greedy_search",
    "attention",
]
DECODING_MODES: tuple[DecodingMode, ...] = get_args(DecodingMode)


def mode_of(config: StreamConfig) -> DecodingMode:
    """The mode that a stream asks for, or else the first. Raises InvalidStreamConfig."""
    if config.mode is None:
        return DECODING_MODES[0]
    for mode in DECODING_MODES:
        if mode == config.mode:
            return mode
    raise InvalidStreamConfig(f"mode={config.mode}: must be one of {', '.join(DECODING_MODES)}")
