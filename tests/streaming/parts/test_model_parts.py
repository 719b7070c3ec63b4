"""The parts of a loaded model: which there may be, and what is made of them."""

from pathlib import Path

import pytest

from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig, UnusableGraph
from earshot.streaming.parts import model_parts
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.letters import LETTERS
from earshot.streaming.parts.model_parts import ModelParts, read_parts
from earshot.streaming.parts.neural_lm import NEURAL_LM
from earshot.streaming.parts.option import Option
from earshot.streaming.parts.part import Part
from earshot.streaming.parts.table import PARTS, check_parameters, engine_fields
from earshot.streaming.stream_config import StreamConfig


def test_a_model_may_have_none(tone_model):
    parts = ModelParts(tone_model, {})
    assert [parts.get(part) for part in (LETTERS, GRAPH, NEURAL_LM)] == [None, None, None]
    described = ("graph", "neural_lm", "turns", "tagger", "transducer_lm")
    assert parts.descriptions() == dict.fromkeys(described)


def test_one_that_nobody_knows_is_refused(tone_model):
    known = "a model's parts are letters, graph, neural_lm"
    with pytest.raises(InvalidEngineConfig, match=f"larger_lm: {known}"):
        ModelParts(tone_model, {"larger_lm": object()})
    with pytest.raises(InvalidEngineConfig, match="larger_lm"):
        read_parts({"larger_lm": Path("file")}, "cpu")


def test_one_without_the_one_that_it_needs_is_refused(tone_model):
    with pytest.raises(InvalidEngineConfig, match="no use without a decoding graph"):
        ModelParts(tone_model, {"neural_lm": object()})


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "lm.graph").write_bytes(b"nothing")
    with pytest.raises(UnusableGraph, match=r"lm\.graph"):
        read_parts({"graph": tmp_path / "lm.graph"}, "cpu")


def test_each_is_fitted_once(tone_model, digit_loop):
    parts = ModelParts(tone_model, {"graph": digit_loop(12)})
    assert parts.get(GRAPH) is parts.get(GRAPH)


def test_its_own_settings_reach_it(tone_model, monkeypatch):
    loudness = Part(
        name="loudness",
        title="loudness",
        file="loudness",
        load=None,
        fit=lambda _, parts: parts.settings["loudness_db"],
        settings=(Option("loudness_db", "number", ("parts", "loudness_db"), high=90),),
    )
    monkeypatch.setitem(PARTS, loudness.name, loudness)
    config = EngineConfig(**engine_fields({"loudness_db": 60.0, "lm_weight": 0.5}))
    assert (config.parts, config.graph_search.lm_weight) == ({"loudness_db": 60.0}, 0.5)
    assert ModelParts(tone_model, {}, config.parts).get(loudness) == 60.0


def test_what_no_part_is_asked_is_refused():
    with pytest.raises(InvalidStreamConfig, match="whisper: no part of a model is asked that"):
        check_parameters(StreamConfig(parts={"whisper": True}), "prefix", frozenset())


def test_parts_are_read_for_the_device(monkeypatch):
    read = Part("p", "p", "p", load=lambda path, device: (path, device), fit=lambda x, _: x)
    monkeypatch.setitem(model_parts.PARTS, "p", read)
    assert read_parts({"p": Path("file")}, "cuda") == {"p": (Path("file"), "cuda")}
