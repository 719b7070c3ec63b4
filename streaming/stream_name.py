"""The name of a stream in logs: the request that opened it, and the channel that it hears."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class StreamName:
    """The id of a request, and which of its channels; without an id a stream has no name."""

    request_id: str | None = None
    channel: int = 0

    @property
    def fields(self) -> Mapping[str, object]:
        """The fields of a log line (`extra`) about this stream."""
        if self.request_id is None:
            return {}
        return {"request_id": self.request_id, "channel": self.channel}


NAMELESS = StreamName()


def fields_of(names: Iterable[StreamName]) -> Mapping[str, object]:
    """The fields of a log line (`extra`) about several streams; of one, its own."""
    named = [name for name in names if name.request_id is not None]
    if len(named) == 1:
        return named[0].fields
    ids = list(dict.fromkeys(name.request_id for name in named))
    return {"request_ids": ids} if ids else {}
