"""The language models that one stream has in hand, and the words that it carries between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from earshot.decoder_kernels.lm.lm_texts import MixedLm

if TYPE_CHECKING:
    from earshot.streaming.language_models.searched_lms import SearchedMix


@dataclass(eq=False)
class HeldLms:
    """Open images that stay as they are until `release`.

    mix: None where none were named. give_back: tells whoever counts them. searched: the
    same models for the search itself; None where they rank what it has found.
    """

    mix: MixedLm | None = None
    give_back: Callable[[], None] | None = None
    searched: SearchedMix | None = None

    def release(self) -> None:
        """Give them back; once, however often it is asked."""
        give_back, self.give_back = self.give_back, None
        self.mix = self.searched = None
        if give_back is not None:
            give_back()


def let_go(opening: Future[HeldLms]) -> None:
    """Give back what nobody wants any more, as soon as it is open."""
    opening.cancel()
    opening.add_done_callback(_release)


def _release(opened: Future[HeldLms]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        opened.result().release()


@dataclass(eq=False)
class StreamLms:
    """What a stream holds: for its segment, and for those after it where that has been changed."""

    now: HeldLms = field(default_factory=HeldLms)
    next: HeldLms | None = None

    @property
    def ranking(self) -> MixedLm | None:
        """The models that rank what the search finds of the segment, if any do."""
        return None if self.now.searched is not None else self.now.mix

    @property
    def searched(self) -> SearchedMix | None:
        """The models that the search of the segment asks, if any."""
        return self.now.searched

    def take(self, held: HeldLms, *, at_once: bool) -> None:
        """Use these from here on, or else from the next segment on."""
        with self.trying(held, at_once=at_once):
            pass

    @contextmanager
    def trying(self, held: HeldLms, *, at_once: bool) -> Iterator[None]:
        """Take these, but go on with those before where the block raises."""
        before = self.now, self.next
        self.now, self.next = (held, None) if at_once else (self.now, held)
        try:
            yield
        except BaseException:
            self.now, self.next = before
            held.release()
            raise
        for each in before:
            if each is not None and each is not self.now:
                each.release()

    def next_segment(self) -> None:
        """A segment is over."""
        if self.next is not None:
            self.now.release()
            self.now, self.next = self.next, None

    def release(self) -> None:
        """The stream is over."""
        self.next_segment()
        self.now.release()
