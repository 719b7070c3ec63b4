"""What a protocol asks its session to do: with the streams, and with the socket."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from earshot.service.audio.packed import Packed
from earshot.service.outcomes import SERVICE_RESTART, close_reason, outcome_of
from earshot.streaming.requests import Request, pushes
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import StreamConfig


@dataclass(frozen=True)
class Open:
    """Open the session's streams, where clients say on the open socket what they want.

    An `Ask` before it reaches no stream; streams that cannot be opened end the session.
    """

    config: StreamConfig


@dataclass(frozen=True)
class Ask:
    """Ask something of the stream of a channel, of all streams where it is None.

    Requests are done in order; a full backlog holds them up, but for `Cancel`.
    """

    request: Request
    channel: int | None = None


@dataclass(frozen=True)
class Unpack:
    """Decode bytes of a container; what is asked behind it is asked behind its samples."""

    packed: Packed


class Message(Protocol):
    """A message or a close that goes out on a socket."""

    def to_json(self) -> str:
        """The text that is sent."""


@dataclass(frozen=True)
class JsonMessage:
    """A message that is one object of JSON, for protocols of a few keys."""

    body: Mapping[str, object]

    def to_json(self) -> str:
        """The text that is sent."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(frozen=True)
class Send:
    """Send a message.

    result_of: the channel whose result it is; a partial of that channel that still waits is not
        sent then. replaceable: it is a partial itself.
    """

    message: Message
    result_of: int | None = None
    replaceable: bool = False


@dataclass(frozen=True)
class Close:
    """Close the socket after all that was sent before; error: what ends the session early."""

    code: int
    reason: str = ""
    error: BaseException | None = field(default=None, compare=False)

    @classmethod
    def of(cls, error: BaseException) -> "Close":
        """With the code and the reason that the table of outcomes has for an error."""
        return cls(outcome_of(error).close_code, close_reason(error), error)


RESTARTING = Close(SERVICE_RESTART, "the server is restarting")
"""For who may reconnect, behind the last results."""

Action: TypeAlias = Open | Ask | Unpack | Send | Close


def pushed(heard: Sequence[Samples] | Packed) -> list[Action]:
    """Ask the stream of each channel to decode what belongs to it."""
    if isinstance(heard, Packed):
        return [Unpack(heard)]
    return [Ask(push, channel) for channel, each in enumerate(heard) for push in pushes(each)]
