"""What a protocol asks its session to do: with the streams, and with the socket."""

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from earshot.service.audio.pcm import Samples
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.stream_config import Boost
from earshot.streaming.weights import Weights


@dataclass(frozen=True, eq=False)
class PushAudio:
    """Give samples at the model's rate, shape ``(N,)``, to a channel's stream."""

    samples: Samples
    channel: int = 0


@dataclass(frozen=True)
class FinalizeStream:
    """Ask the stream for the final of what it has."""


@dataclass(frozen=True)
class ConfigureStream:
    """Replace the stream's boosted phrases, what it asks of the decoding graph, and its weights."""

    boosts: tuple[Boost, ...]
    graph: GraphOptions
    weights: Weights = field(default_factory=dict)


@dataclass(frozen=True)
class FinishStream:
    """Tell the stream that no audio follows."""


@dataclass(frozen=True)
class CancelStream:
    """Free a channel's stream now, without results; None frees all."""

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


StreamAction: TypeAlias = PushAudio | FinalizeStream | ConfigureStream | FinishStream
"""Actions on a stream, to be done in order; a full backlog holds them up.

All but PushAudio are for the streams of all channels.
"""

Action: TypeAlias = StreamAction | CancelStream | Send | Close
