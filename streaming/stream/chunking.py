"""How a stream's feature frames are cut into encoder steps."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cut:
    """One step's window: `window` feature frames that give `frames` encoder frames."""

    window: int
    frames: int
    last: bool


@dataclass(frozen=True)
class Chunking:
    """WeNet's windows: each gives `chunk_size` encoder frames and overlaps the next.

    chunk_size in encoder frames; rate, right_context and every window in feature frames.
    """

    chunk_size: int
    rate: int
    right_context: int
    feature_ms: float

    @property
    def window(self) -> int:
        """Feature frames of a full window."""
        return (self.chunk_size - 1) * self.rate + self.right_context + 1

    @property
    def frame_ms(self) -> float:
        """Audio between two encoder frames."""
        return self.rate * self.feature_ms

    def cut(self, available: int, ended: bool) -> Cut | None:
        """The next window where `available` frames lie ahead; None when that is too few.

        After the end of the audio short windows count too, and the last cut may be empty.
        """
        if available >= self.window:
            rest = available - self.chunk_size * self.rate
            return Cut(self.window, self.chunk_size, ended and rest <= self.right_context)
        if not ended:
            return None
        if available <= self.right_context:
            return Cut(0, 0, last=True)
        return Cut(available, (available - self.right_context - 1) // self.rate + 1, last=True)
