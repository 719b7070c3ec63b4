"""How much each scorer of a second pass counts, and who is told that there is no such scorer."""

import pytest

from earshot.models.config import DecodingConfig
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.pass_weights import PassWeights

MODEL = PassWeights.of(DecodingConfig(ctc_weight=0.3, reverse_weight=0.4, neural_lm_weight=0.6))


def test_what_nobody_names_the_model_says():
    assert PassWeights(0.3, 0.4, {"neural_lm": 0.6, "transducer_lm": 0.3}) == MODEL.changed_by({})


def test_the_engine_counts_before_the_model_and_a_stream_before_both():
    engine = MODEL.changed_by({"reverse": 0.0, "neural_lm": 0.1})
    changed = PassWeights(0.3, 0.0, {"neural_lm": 0.2, "transducer_lm": 0.3})
    assert engine.changed_by({"neural_lm": 0.2}) == changed


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"reverse": 1.5}, "reverse_weight is 1.5"),
        (
            {"large_lm": 0.5},
            "large_lm_weight: there are ctc, reverse, neural_lm, transducer_lm alone",
        ),
    ],
)
def test_what_no_scorer_can_count_is_refused(asked, complaint, graph_engine, sounds):
    with pytest.raises(InvalidStreamConfig, match=complaint):
        MODEL.changed_by(asked)
    with pytest.raises(InvalidStreamConfig, match=complaint):
        sounds.transcribe(graph_engine, sounds.speech("一"), StreamConfig(weights=asked))


def test_an_engine_is_not_built_with_a_weight_that_its_model_has_not(make_engine, tone_model):
    with pytest.raises(InvalidEngineConfig, match="large_lm_weight"):
        make_engine(tone_model, weights={"large_lm": 0.5})
    with pytest.raises(InvalidEngineConfig, match="ctc_weight is -1"):
        EngineConfig(weights={"ctc": -1.0})
