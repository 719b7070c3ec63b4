"""The first bytes of a stream, which say what follows them."""


class StreamHead:
    """Keeps all bytes that have come."""

    def __init__(self) -> None:
        self._bytes = b""

    @property
    def begun(self) -> bool:
        """Whether any byte has come."""
        return bool(self._bytes)

    @property
    def read(self) -> bytes:
        """All bytes that have come."""
        return self._bytes
