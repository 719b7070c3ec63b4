"""What a protocol asks its session to do: with the streams, and with the socket."""

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from earshot.streaming.requests import Request


@dataclass(frozen=True)
class Ask:
    """Ask something of the stream of a channel, of all streams where it is None.

    Requests are done in order; a full backlog holds them up, but for `Cancel`.
    """

    request: Request
    channel: int | None = None


class Message(Protocol):
    """A message or a close that goes out on a socket."""

    def to_json(self) -> str:
        """The text that is sent."""


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


Action: TypeAlias = Ask | Send | Close
