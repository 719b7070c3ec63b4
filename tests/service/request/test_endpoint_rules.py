"""Where utterances end, by settings and requests."""

import pytest

from earshot.service.errors import BadRequest
from earshot.service.request.endpoint_rules import EndpointRules
from earshot.service.request.query_values import QueryValues
from earshot.service.settings import Settings
from earshot.streaming.stream_config import EndpointConfig, TurnConfig

TELLS = EndpointRules(detects_turns=True)
BY_DEFAULT = EndpointConfig(1400, turn=TurnConfig(0.75, 300))


def asked(query: str, rules: EndpointRules = TELLS, *, is_file: bool = False) -> EndpointConfig:
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    values = QueryValues((name, value) for name, _, value in pairs)
    return rules.asked(values, is_file=is_file)


@pytest.mark.parametrize(
    ("query", "endpoint"),
    [
        ("", BY_DEFAULT),
        ("endpointing=true", BY_DEFAULT),
        ("endpointing=25", BY_DEFAULT),
        ("endpointing=false", EndpointConfig(None)),
        ("endpointing=500", EndpointConfig(1400, turn=TurnConfig(0.75, 500))),
        ("endpointing=2000", EndpointConfig(2000, turn=TurnConfig(0.75, 2000))),
        ("eot_threshold=0.6", EndpointConfig(1400, turn=TurnConfig(0.6, 300))),
        ("eot_threshold=false", EndpointConfig(1000)),
        ("eot_threshold=false&endpointing=500", EndpointConfig(500)),
        ("eot_timeout_ms=5000", EndpointConfig(5000, turn=TurnConfig(0.75, 300))),
    ],
)
def test_a_request_names_its_pauses(query: str, endpoint: EndpointConfig) -> None:
    assert asked(query) == endpoint


@pytest.mark.parametrize("query", ["eot_threshold=0.6", "eot_timeout_ms=900", ""])
def test_one_pause_ends_all_utterances_of_a_model_that_cannot_tell(query: str) -> None:
    assert asked(query, EndpointRules()) == EndpointConfig(1000)
    assert asked(f"{query}&endpointing=700", EndpointRules()) == EndpointConfig(700)


def test_who_asks_such_a_model_is_told() -> None:
    values = QueryValues([("eot_threshold", "0.6"), ("eot_timeout_ms", "900")])
    named = [each.parameter for each in EndpointRules().warnings(values)]
    assert named == ["eot_threshold", "eot_timeout_ms"]
    assert TELLS.warnings(values) == []


def test_one_pause_ends_all_utterances_of_a_file() -> None:
    assert asked("eot_threshold=0.6", is_file=True) == EndpointConfig(1000)


@pytest.mark.parametrize(
    "query",
    ["eot_threshold=0.1", "eot_threshold=1", "eot_threshold=nan", "eot_timeout_ms=10"],
)
@pytest.mark.parametrize("rules", [TELLS, EndpointRules()])
def test_what_is_out_of_range_is_refused(query: str, rules: EndpointRules) -> None:
    with pytest.raises(BadRequest, match="eot_"):
        asked(query, rules)


def test_operators_have_the_same_choices() -> None:
    settings = Settings.load(silence_ms=600, eot_threshold=0.9, eot_timeout_ms=2000)
    rules = EndpointRules.of(settings, detects_turns=True)
    assert rules.live == asked("", rules) == EndpointConfig(2000, turn=TurnConfig(0.9, 600))
    assert rules.plain == EndpointConfig(600)


def test_an_operator_without_patience_has_the_least_pause() -> None:
    rules = EndpointRules(silence_ms=0)
    assert rules.plain == rules.live == asked("", rules) == EndpointConfig(300)
