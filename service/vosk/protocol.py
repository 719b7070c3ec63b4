"""Vosk's protocol, as the gateway knows it."""

from earshot.service.core.services import Services
from earshot.service.request.parameters import ParameterRules
from earshot.service.sessions.json_object import object_of
from earshot.service.sessions.root_protocol import RootProtocol
from earshot.service.vosk.vosk_conversation import MAX_TEXT_CHARS, VoskConversation

_KEYS = {"config", "eof", "reset"}


def _claims(message: bytes | str) -> bool:
    """Vosk's clients begin with a config, or at once with audio."""
    if isinstance(message, bytes):
        return True
    found = object_of(message, MAX_TEXT_CHARS)
    return found is not None and not _KEYS.isdisjoint(found)


def _converse(services: Services) -> VoskConversation:
    rules = ParameterRules.of(services.settings, services.model)
    return VoskConversation(rules, services.engine.sample_rate_hz)


VOSK = RootProtocol('Vosk\'s {"config"} or audio', _claims, _converse)
