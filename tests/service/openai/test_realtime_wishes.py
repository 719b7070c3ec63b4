"""What ends a turn of a realtime session."""

from typing import Any

import pytest

from earshot.service.openai.realtime_wishes import RealtimeWishes
from earshot.service.request.boosts import BoostRules
from earshot.service.request.endpoint_rules import EndpointRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules
from earshot.streaming.stream_config import EndpointConfig, TurnConfig


def session(turns: dict[str, Any]) -> dict[str, Any]:
    return {"audio": {"input": {"turn_detection": turns}}}


def rules(*, detects_turns: bool) -> ParameterRules:
    endpoint = EndpointRules(detects_turns=detects_turns)
    return ParameterRules(ModelNames("m"), BoostRules(), endpoint=endpoint)


def turns_told(wishes: RealtimeWishes, offered: ParameterRules) -> object:
    told: Any = wishes.told(offered)
    return told["audio"]["input"]["turn_detection"]


@pytest.mark.parametrize(
    ("asked", "endpoint"),
    [
        ({"type": "semantic_vad"}, EndpointConfig(1400, turn=TurnConfig(0.75))),
        (
            {"type": "semantic_vad", "eagerness": "high"},
            EndpointConfig(1400, turn=TurnConfig(0.6)),
        ),
        ({"type": "server_vad"}, EndpointConfig(1400, turn=TurnConfig(0.75))),
        ({"type": "server_vad", "silence_duration_ms": 700}, EndpointConfig(700)),
    ],
)
def test_turns_end_by_what_is_said_unless_a_silence_is_named(asked, endpoint) -> None:
    rules = ParameterRules(
        ModelNames("m"), BoostRules(), endpoint=EndpointRules(detects_turns=True)
    )
    session = {"audio": {"input": {"turn_detection": asked}}}
    wishes = RealtimeWishes().changed_by(session)
    assert wishes.parameters(rules).stream.endpoint == endpoint
    assert wishes.told(rules)["audio"]["input"]["turn_detection"] == asked
