"""Audio in a container, as it came over a socket: bytes that are no samples yet."""

from dataclasses import dataclass

from earshot.service.audio.containers import Container


@dataclass(frozen=True)
class Packing:
    """What the bytes of one stream are; channels: heard apart, None mixes all into one."""

    container: Container
    channels: int | None = None


@dataclass(frozen=True)
class Packed:
    """The next bytes of a stream, cut anywhere; last: none follow."""

    packing: Packing
    data: bytes
    last: bool = False
