"""Names of how a U2 model decodes: WeNet's, and those of a transducer's head where it has one.

`attention` searches each segment anew with the decoder alone, which takes many times as long as
rescoring and holds up the step; its results ignore boosts.
"""

from typing import Literal, TypeAlias, get_args

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.stream_config import StreamConfig

WenetMode: TypeAlias = Literal[
    "attention_rescoring",
    "ctc_prefix_beam_search",
    "ctc_wfst_beam_search",
    "ctc_greedy_search",
    "attention",
]
TransducerMode: TypeAlias = Literal["transducer_greedy_search", "transducer_beam_search"]
DecodingMode: TypeAlias = WenetMode | TransducerMode

WENET_MODES: tuple[WenetMode, ...] = get_args(WenetMode)
TRANSDUCER_MODES: tuple[TransducerMode, ...] = get_args(TransducerMode)


def mode_of(config: StreamConfig) -> DecodingMode:
    """The mode that a stream asks for, or else the first. Raises InvalidStreamConfig."""
    if config.mode is None:
        return WENET_MODES[0]
    known: tuple[DecodingMode, ...] = (*WENET_MODES, *TRANSDUCER_MODES)
    for mode in known:
        if mode == config.mode:
            return mode
    raise InvalidStreamConfig(f"mode={config.mode}: must be one of {', '.join(known)}")
