"""The searches of a transducer's head over segments, by their names."""

from __future__ import annotations

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.boosting.boost_capacity import boost_capacity
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.transducer.greedy_loop import device_loop_of
from earshot.streaming.transducer.label_beam import label_beam_of
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.options import refuse_transducer
from earshot.streaming.transducer.segments.beam_segments import BeamSegments
from earshot.streaming.transducer.segments.greedy_segments import GreedySegments


def segment_searches(
    head: Transducer | None, tokenizer: Tokenizer, config: EngineConfig, parts: ModelParts
) -> dict[str, GreedySegments | BeamSegments]:
    """Greedy decoding, on the head's GPU if it is on one, and a beam; none without a head.

    Raises InvalidEngineConfig for options and a language model of a head that is not there, and as
    `device_loop_of` and `label_beam_of` do.
    """
    if head is None:
        refuse_transducer(config, parts)
        return {}
    loop = label_loop_of(head, config.max_streams, boost_capacity(config))
    return {
        "transducer": GreedySegments(device_loop_of(head, config) or loop, tokenizer),
        "transducer_beam": BeamSegments(loop, label_beam_of(loop, config, parts), tokenizer),
    }
