import math

import pytest

from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig


def test_short_pauses_are_raised_to_what_ctc_can_tell():
    assert EndpointConfig(silence_ms=10).silence_ms == 300
    assert EndpointConfig(silence_ms=700).silence_ms == 700
    assert EndpointConfig(silence_ms=None).silence_ms is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: StreamConfig(alternatives=0),
        lambda: StreamConfig(utterance_end_ms=100),
        lambda: StreamConfig(weights={"ctc": math.nan}),
        lambda: StreamConfig(weights={"ctc": -1.0}),
        lambda: StreamConfig(weights={"neural_lm": 10.5}),
        lambda: EndpointConfig(silence_ms=-1),
        lambda: EndpointConfig(no_speech_ms=0),
        lambda: EndpointConfig(max_utterance_ms=100),
        lambda: EndpointConfig(blank_threshold=1.0),
        lambda: Boost("x", math.inf),
    ],
)
def test_options_out_of_range_are_refused(make):
    with pytest.raises(InvalidStreamConfig):
        make()


@pytest.mark.parametrize(
    "options",
    [
        {"max_streams": 0},
        {"chunk_size": 0},
        {"num_left_chunks": -2},
        {"max_batch": 0},
        {"max_wait_ms": -1.0},
        {"max_backlog_s": 0.1},
        {"max_utterance_ms": 10},
        {"threads": 0},
        {"beam_size": 0},
        {"options": {"beam_size": 4}},
    ],
)
def test_an_engine_that_cannot_be_built_is_refused(options):
    with pytest.raises(InvalidEngineConfig):
        EngineConfig(**options)
