"""Answers about a segment's labels, kept for as long as no label comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.segment import Segment
from earshot.streaming.transducer.transcript import Transcript

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Told(Generic[T]):
    """An answer about a segment's labels. Most chunks bring none, short ones above all.

    found: the labels that it is about.
    """

    segment: Segment
    boosts: object
    found: Transcript
    answer: T

    @classmethod
    def of(cls, stream: ActiveStream, found: Transcript, answer: T) -> Told[T]:
        """An answer about these labels of the stream's segment."""
        return cls(stream.segment, stream.boosts, found, answer)

    def holds(self, stream: ActiveStream, found: Transcript) -> bool:
        """Whether the stream's segment still says that, in the same frames."""
        same = stream.segment is self.segment and stream.boosts is self.boosts
        return same and found.says_as(self.found)
