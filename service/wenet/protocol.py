"""WeNet's protocol, as the gateway knows it."""

from earshot.service.core.services import Services
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.json_object import object_of
from earshot.service.sessions.root_protocol import RootProtocol
from earshot.service.wenet.wenet_conversation import MAX_TEXT_CHARS, WenetConversation


def _claims(message: bytes | str) -> bool:
    found = object_of(message, MAX_TEXT_CHARS)
    return found is not None and "signal" in found


def _converse(services: Services) -> WenetConversation:
    rules = ParameterRules.of(services.settings, services.model)
    return WenetConversation(rules, services.engine.sample_rate_hz)


WENET = RootProtocol('WeNet\'s {"signal": "start"}', _claims, _converse)
