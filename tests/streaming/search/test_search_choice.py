"""Which search a stream gets, and what it is told where it cannot have what it asks for."""

import math

import pytest

from earshot.models.config import DecodingConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.lm_mix import LmMix
from earshot.streaming.search.search_choice import choose_search
from earshot.streaming.stream_config import StreamConfig

GRAPH = GraphSearchConfig(max_active=500)


def choice(mode, graph=GRAPH, **asked):
    return choose_search(StreamConfig(mode=mode, graph=GraphOptions(**asked)), graph)


@pytest.mark.parametrize(
    ("mode", "with_graph", "without"),
    [
        ("attention_rescoring", "graph", "prefix"),
        ("ctc_prefix_beam_search", "prefix", "prefix"),
        ("ctc_greedy_search", "greedy", "greedy"),
        ("attention", "prefix", "prefix"),
    ],
)
def test_a_mode_keeps_its_meaning_and_rescoring_takes_the_graph(mode, with_graph, without):
    assert choice(mode) == with_graph
    assert choice(mode, None) == choice(mode, lm=False) == without


def test_the_graph_alone_is_a_mode_of_its_own():
    assert choice("ctc_wfst_beam_search") == choice("attention_rescoring", lm=True) == "graph"


@pytest.mark.parametrize(
    ("mode", "graph", "asked", "complaint"),
    [
        ("ctc_wfst_beam_search", None, {}, "ctc_wfst_beam_search: there is no decoding graph here"),
        ("ctc_wfst_beam_search", GRAPH, {"lm": False}, "contradicts lm=off"),
        ("attention_rescoring", None, {"lm": True}, "lm=on: there is none here"),
        ("ctc_greedy_search", GRAPH, {"lm": True}, "lm=on: mode ctc_greedy_search uses none"),
        (
            "ctc_greedy_search",
            GRAPH,
            {"lm": LmMix((("law", 1.0),))},
            "lm=law: models by name count .* alone, and mode ctc_greedy_search uses none",
        ),
        ("attention_rescoring", None, {"beam": 9.0}, "beam: no decoding graph .* none here"),
        ("attention", GRAPH, {"lm_weight": 1.0}, "lm_weight: .* mode attention uses none"),
        ("attention_rescoring", GRAPH, {"lm": False, "max_active": 9}, "max_active: .* lm=off"),
        ("attention_rescoring", GRAPH, {"max_active": 501}, "max_active is 501, at most 500 here"),
    ],
)
def test_what_cannot_be_had_is_refused_by_its_name(mode, graph, asked, complaint):
    with pytest.raises(InvalidStreamConfig, match=complaint):
        choice(mode, graph, **asked)


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"lm_weight": -0.1}, "lm_weight"),
        ({"lm_weight": 11.0}, "lm_weight"),
        ({"lm_weight": math.nan}, "lm_weight"),
        ({"beam": 0.5}, "beam"),
        ({"beam": math.inf}, "beam"),
        ({"max_active": 0}, "max_active"),
        ({"max_active": 10**6}, "max_active"),
    ],
)
def test_numbers_out_of_range_are_named(asked, complaint):
    with pytest.raises(InvalidStreamConfig, match=complaint):
        GraphOptions(**asked)
    with pytest.raises(InvalidEngineConfig, match=complaint):
        GraphSearchConfig(**asked)


def test_what_the_engine_leaves_open_the_model_recommends():
    model = DecodingConfig(lm_weight=0.7, graph_beam=13.0)
    told = GraphSearchConfig().of(model).options(GraphOptions())
    assert (told.graph_scale, told.beam) == (pytest.approx(0.7, abs=2**-17), 13.0)
    told = GraphSearchConfig(beam=9.0).of(model).options(GraphOptions())
    assert (told.graph_scale, told.beam) == (pytest.approx(0.7, abs=2**-17), 9.0)
    with pytest.raises(InvalidEngineConfig, match="recommends"):
        GraphSearchConfig(beam=9.0).options(GraphOptions())


def test_what_a_stream_does_not_say_the_engine_says():
    config = GraphSearchConfig(lm_weight=0.5, beam=11.0, max_active=700, lattice_beam=2.0)
    told = config.options(GraphOptions(beam=13.0, lm_weight=0.0))
    assert (told.beam, told.graph_scale, told.max_active) == (13.0, 0.0, 700)
    assert told.lattice_beam == 2.0
