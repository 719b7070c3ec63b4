"""Sessions of Flux without a socket, and what the engine says to them."""

import json

from protocol_session import sent

from earshot.service.deepgram.flux.flux_conversation import FluxConversation
from earshot.service.deepgram.flux.flux_names import FLUXES
from earshot.service.deepgram.flux.flux_wishes import flux_parameters
from earshot.service.request.boosts import BoostRules
from earshot.service.request.endpoint_rules import EndpointRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules
from earshot.streaming.events import Alternative, Final, Partial, Word

RULES = ParameterRules(
    ModelNames("tiny", known=FLUXES),
    BoostRules(max_phrases=3),
    EndpointRules(detects_turns=True),
)
SAMPLES = {"model": "flux-general-en", "encoding": "linear16", "sample_rate": "16000"}


def flux(**asked: str) -> FluxConversation:
    parameters, wishes = flux_parameters(list((SAMPLES | asked).items()), RULES)
    return FluxConversation(parameters, wishes, RULES.boosts, 16000, "request")


def said(text: str) -> tuple[Alternative, ...]:
    words = tuple(
        Word(word, place / 2, place / 2 + 0.4, 0.9, written=word)
        for place, word in enumerate(text.split())
    )
    return (Alternative(text, words, 0.9, -1.0),)


def partial(text: str, until_s: float = 1.0) -> Partial:
    return Partial(0.0, until_s, said(text), 0)


def final(text: str, confidence: float | None = 0.8, **more) -> Final:
    told = {"speech_final": True, "from_finalize": False, "cause": "endpoint", "pause_s": 0.4}
    return Final(0.0, 2.0, said(text), **{**told, "end_of_turn_confidence": confidence, **more})


def heard(session: FluxConversation, *events) -> list[dict]:
    return [message for event in events for message in sent(session.receive_event(event))]


def names(messages: list[dict]) -> list[str]:
    return [message["event"] for message in messages]


def configure(session: FluxConversation, **named):
    return session.receive_text(json.dumps({"type": "Configure", **named}))
