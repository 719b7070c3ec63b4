"""What a session of Flux asks for, in its query and in Configures."""

import pytest
from flux_session import RULES, SAMPLES, configure, final, flux, heard
from protocol_session import sent

from earshot.service.deepgram.flux.flux_conversation import FluxConversation
from earshot.service.deepgram.flux.flux_names import FLUXES
from earshot.service.deepgram.flux.flux_wishes import flux_parameters
from earshot.service.errors import BadRequest
from earshot.service.request.boosts import BoostRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.actions import Ask
from earshot.streaming.events import (
    Configured,
    NotConfigured,
    UnboostablePhrase,
)
from earshot.streaming.requests import Configure
from earshot.streaming.stream_config import EndpointConfig, TurnConfig


def test_a_configure_asks_the_stream_and_is_answered_with_all_that_holds():
    session = flux(keyterm="espresso", eager_eot_threshold="0.5")
    thresholds = {"eot_threshold": 0.8, "eot_timeout_ms": 3000}
    (ask,) = configure(session, thresholds=thresholds, keyterms=["iced tea"], numerals=True)
    assert isinstance(ask.request, Configure)
    assert [boost.phrase for boost in ask.request.boosts] == ["iced tea"]
    turn = TurnConfig(0.8, eager_confidence=0.5)
    assert ask.request.endpoint == EndpointConfig(3000, turn=turn)
    (success,) = heard(session, Configured(()))
    assert success == {
        "type": "ConfigureSuccess",
        "request_id": "request",
        "sequence_id": 0,
        "thresholds": {
            "eot_threshold": 0.8,
            "eager_eot_threshold": 0.5,
            "eot_timeout_ms": 3000,
        },
        "keyterms": ["iced tea"],
        "numerals": True,
    }


def test_what_a_configure_does_not_name_stays():
    session = flux(keyterm="espresso")
    (ask,) = configure(session, thresholds=None, keyterms=None)
    assert [boost.phrase for boost in ask.request.boosts] == ["espresso"]
    assert ask.request.endpoint == EndpointConfig(5000, turn=TurnConfig(0.7))


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({"thresholds": {"eot_threshold": 0.4}}, "thresholds.eot_threshold: must be a number"),
        ({"thresholds": {"eot_threshold": True}}, "thresholds.eot_threshold: must be a number"),
        ({"thresholds": {"eot_treshold": 0.9}}, "thresholds.eot_treshold: there is none"),
        ({"thresholds": {"eager_eot_threshold": 0.8}}, "must not be above eot_threshold"),
        ({"thresholds": [0.7]}, "thresholds: must be an object"),
        ({"keyterms": [1]}, "keyterms: must be a list of texts"),
        ({"keyterms": [" "]}, "keyterm"),
        ({"numerals": "yes"}, "numerals: must be true or false"),
        ({"language_hints": ["de"]}, "language_hints: cannot be changed"),
    ],
)
def test_a_configure_that_cannot_be_done_is_refused_and_the_session_goes_on(named, why):
    session = flux()
    (failure,) = sent(configure(session, **named))
    assert (failure["type"], failure["code"]) == ("ConfigureFailure", "CONFIGURE_INVALID")
    assert why in failure["description"]
    assert session.awaits == "audio"


def test_too_many_phrases_have_a_code_of_their_own():
    (failure,) = sent(configure(flux(), keyterms=list("abcd")))
    assert failure["code"] == "CONFIGURE_KEYTERM_LIMIT_EXCEEDED"


def test_any_number_of_json_within_its_range_is_a_threshold():
    (ask,) = configure(flux(), thresholds={"eot_threshold": 2 / 3})
    assert ask.request.endpoint.turn.confidence == 2 / 3


def test_a_second_configure_waits_for_the_first():
    session = flux()
    configure(session, keyterms=["tea"])
    (failure,) = sent(configure(session, keyterms=["ice"]))
    assert failure["code"] == "CONFIGURE_ALREADY_PENDING"
    (failure,) = heard(session, NotConfigured("no"))
    assert failure["description"] == "no"
    assert isinstance(configure(session, keyterms=["ice"])[0], Ask)


def test_phrases_that_cannot_be_boosted_are_warned_of():
    (warning,) = heard(flux(keyterm="5G"), UnboostablePhrase("5G", "no digits"))
    assert (warning["code"], warning["description"]) == ("UNBOOSTABLE_PHRASE", "5G: no digits")


def test_the_other_timeout_of_a_configure_is_what_ends_turns_then():
    session = flux()
    configure(session, thresholds={"eot_timeout_ms": 500})
    heard(session, Configured(()))
    assert heard(session, final("tea", 0.6, pause_s=0.52))[-1]["trigger"] == "timeout"


@pytest.mark.parametrize(
    ("asked", "endpoint"),
    [
        ({}, EndpointConfig(5000, turn=TurnConfig(0.7))),
        (
            {"eot_threshold": "1.0", "eot_timeout_ms": "30000"},
            EndpointConfig(30_000, turn=TurnConfig(1.0)),
        ),
        (
            {"eager_eot_threshold": "0.4"},
            EndpointConfig(5000, turn=TurnConfig(0.7, eager_confidence=0.4)),
        ),
    ],
)
def test_thresholds_say_when_turns_end(asked, endpoint):
    parameters, _ = flux_parameters(list((SAMPLES | asked).items()), RULES)
    assert parameters.stream.endpoint == endpoint
    assert parameters.stream.interim_results


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"eot_threshold": "0.4"}, "eot_threshold=0.4"),
        ({"eager_eot_threshold": "0.95"}, "eager_eot_threshold=0.95"),
        ({"eager_eot_threshold": "0.8"}, "eager_eot_threshold=0.8"),
        ({"eot_timeout_ms": "100"}, "eot_timeout_ms=100"),
        ({"model": "nova-3"}, "model=nova-3"),
        ({"encoding": "amr"}, "encoding=amr"),
        ({"redact": "numbers"}, "redact"),
        ({"endpointing": "false"}, "endpointing=false"),
        ({"multichannel": "true"}, "multichannel"),
    ],
)
def test_what_cannot_be_served_is_refused_by_name(asked, named):
    with pytest.raises(BadRequest, match=named):
        flux_parameters(list((SAMPLES | asked).items()), RULES)


def test_a_model_that_cannot_tell_ends_of_turns_says_so():
    deaf = ParameterRules(ModelNames("tiny", known=FLUXES), BoostRules())
    asked = {**SAMPLES, "eager_eot_threshold": "0.5"}
    parameters, wishes = flux_parameters(list(asked.items()), deaf)
    assert [each.parameter for each in parameters.warnings] == ["eager_eot_threshold"]
    assert parameters.stream.endpoint == EndpointConfig()
    session = FluxConversation(parameters, wishes, deaf.boosts, 16000, "request")
    configure(session, thresholds={"eot_threshold": 0.9})
    success, warning = heard(session, Configured(()))
    assert success["type"] == "ConfigureSuccess"
    assert (warning["code"], warning["description"][:10]) == ("UNSUPPORTED_PARAMETER", "thresholds")
