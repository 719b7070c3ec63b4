"""The model behind a server, as it is told to clients."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServedModel:
    """The one model behind this server: its name, and an id that changes with its weights.

    languages: BCP 47 tags of what it knows, empty where nobody has said it. modes: how it may be
    asked to decode. chunks_ms: what a request may name as its chunk. most_earned: nats beyond which
    no weight of a boost changes anything, None where that is not known. writes_marks:
    whether it may know capitals and marks. detects_turns: whether it can tell how likely a speaker
    has finished. card: what its makers say of it, in Markdown, where they do. details: what else
    /v1/models tells, such as parameters.
    """

    name: str
    version: str
    arch: str
    uuid: str
    languages: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    chunks_ms: tuple[float, ...] = ()
    most_earned: float | None = None
    writes_marks: bool = True
    detects_turns: bool = False
    card: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
