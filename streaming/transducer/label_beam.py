"""The beam of a model's transducer, as an operator asks for it."""

from __future__ import annotations

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.transducer_lm import TRANSDUCER_LM
from earshot.streaming.transducer.options import transducer_beam


def label_beam_of(loop: LabelLoop, config: EngineConfig, parts: ModelParts) -> LabelBeam:
    """A beam of so many hypotheses, with the language model of labels if there is one.

    Raises InvalidConfig for a model of other labels than the head's.
    """
    weight = config.weights.get(TRANSDUCER_LM.name, BeamConfig.lm_weight)
    lm = parts.get(TRANSDUCER_LM)
    beam = BeamConfig(transducer_beam(config), lm_weight=weight)
    return LabelBeam(loop, beam, None if lm is None else lm.automaton)
