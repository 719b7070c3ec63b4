"""How a stream's feature frames are cut into encoder steps."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cut:
    """One step's window: `window` feature frames that give `frames` encoder frames.

    The window begins at the first frame's own place. Frames without a window are a `Rest`, or those
    that an encoder makes of what it has heard before.
    """

    window: int
    frames: int
    last: bool
    is_rest: bool = False

    @property
    def new_frames(self) -> int:
        """Frames of sound that no step has had before."""
        return 0 if self.is_rest else self.frames


@dataclass(frozen=True)
class Chunking:
    """WeNet's windows: each gives `chunk_size` encoder frames and overlaps the next.

    chunk_size in encoder frames; rate, contexts and every window in feature frames.
    left_context: frames before a window that its encoder frames hear too.
    closing: the encoder frames of so many feature frames ahead where the audio ends, of an encoder
    that knows itself what to hear there; None: those whose right context is there, and what a flush
    adds is part of it.
    """

    chunk_size: int
    rate: int
    right_context: int
    feature_ms: float
    left_context: int = 0
    closing: Callable[[int], int] | None = None

    @property
    def window(self) -> int:
        """Feature frames of a full window."""
        return (self.chunk_size - 1) * self.rate + self.right_context + 1

    @property
    def frame_ms(self) -> float:
        """Audio between two encoder frames."""
        return self.rate * self.feature_ms

    @property
    def chunk_ms(self) -> float:
        """Audio between two steps."""
        return self.chunk_size * self.frame_ms

    def cut(self, available: int, ended: bool) -> Cut | None:
        """The next window where `available` frames lie ahead; None when that is too few.

        After the end of the audio short windows count too, and the last cut may be empty.
        """
        if ended and available <= self.window:
            frames = self._frames_at_end(available)
            return Cut(max(available, 0) if frames else 0, frames, last=True)
        if available < self.window:
            return None
        rest = available - self.chunk_size * self.rate
        return Cut(self.window, self.chunk_size, ended and not self._frames_at_end(rest))

    def part(self, frames: int) -> Cut:
        """A window for so many encoder frames, fewer than a chunk has."""
        return Cut((frames - 1) * self.rate + self.right_context + 1, frames, last=False)

    def whole_frames(self, available: int) -> int:
        """The encoder frames that `available` feature frames give, with their right context."""
        return max((available - self.right_context - 1) // self.rate + 1, 0)

    def _frames_at_end(self, available: int) -> int:
        if self.closing is not None:
            return self.closing(available)
        return self.whole_frames(available)
