"""Options of a model's family: those in its table, and no others."""

import pytest
from knock_recognizer import KnockRecognizer, loaded_knocks

from earshot.streaming.assembly.families import FAMILIES, Family, build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.parts.option import Option


@pytest.fixture
def knocks(monkeypatch):
    """A family with one option."""
    patience = Option("patience", "integer", ("options", "patience"), low=1, high=9)
    family = Family(lambda loaded, config, _: KnockRecognizer(loaded, config), (patience,))
    monkeypatch.setitem(FAMILIES, "knocks", family)
    return loaded_knocks()


def test_options_of_its_table_pass(knocks, tone_model):
    build_recognizer(knocks, EngineConfig(options={"patience": 9}))
    build_recognizer(tone_model, EngineConfig(max_streams=1, chunk_size=8, beam_size=4))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"chunk_size": 8}, "'knocks' have no option chunk_size; there are: patience"),
        ({"options": {"patients": 1}}, "'knocks' have no option patients; there are: patience"),
        ({"options": {"patience": 10}}, "'knocks': patience is 10, must be 1 to 9"),
        (
            {"precision": "bfloat16"},
            "precision is bfloat16: models of the family 'knocks' have",
        ),
    ],
)
def test_others_are_refused_in_the_familys_name(knocks, options, complaint):
    with pytest.raises(InvalidEngineConfig, match=complaint):
        build_recognizer(knocks, EngineConfig(**options))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"chunk_size": 4097}, "'u2': chunk_size is 4097, must be 1 to 4096"),
        ({"options": {"max_symbols": 5}}, "'u2' have no option max_symbols; there are: chunk_size"),
    ],
)
def test_u2_has_a_table_too(tone_model, options, complaint):
    with pytest.raises(InvalidEngineConfig, match=complaint):
        build_recognizer(tone_model, EngineConfig(**options))
