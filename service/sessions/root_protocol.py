"""Protocols whose clients connect to the root: their first message says which it is."""

from collections.abc import Callable
from dataclasses import dataclass

from earshot.service.core.services import Services
from earshot.service.sessions.conversation import Conversation


@dataclass(frozen=True)
class RootProtocol:
    """A protocol of clients without a path.

    first: its first message in words, for who is told what is spoken here.
    claims: whether a first message is one of its clients'.
    converse: makes the conversation of such a client.
    """

    first: str
    claims: Callable[[bytes | str], bool]
    converse: Callable[[Services], Conversation]
