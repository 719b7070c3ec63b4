"""The language models that one stream has in hand, and the words that it carries between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from earshot.decoder_kernels.lm.lm_texts import MixedLm


@dataclass(eq=False)
class HeldLms:
    """Open images that stay as they are until `release`.

    mix: None where none were named. let_go: gives them back to whoever counts them.
    """

    mix: MixedLm | None = None
    let_go: Callable[[], None] | None = None

    def release(self) -> None:
        """Give them back; once, however often it is asked."""
        let_go, self.mix, self.let_go = self.let_go, None, None
        if let_go is not None:
            let_go()


@dataclass(eq=False)
class StreamLms:
    """What a stream holds: for its segment, and for those after it where that has been changed."""

    now: HeldLms = field(default_factory=HeldLms)
    next: HeldLms | None = None

    @property
    def mix(self) -> MixedLm | None:
        """The models of the segment, if any were named."""
        return self.now.mix

    def take(self, held: HeldLms, *, at_once: bool) -> None:
        """Use these from here on, or else from the next segment on."""
        if self.next is not None:
            self.next.release()
        self.next = held
        if at_once:
            self.next_segment()

    def next_segment(self) -> None:
        """A segment is over."""
        if self.next is not None:
            self.now.release()
            self.now, self.next = self.next, None

    def release(self) -> None:
        """The stream is over."""
        self.next_segment()
        self.now.release()
