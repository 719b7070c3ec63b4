"""The transcript of one file, as its finals come in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from earshot.streaming.events import BoostWarning, Final, UnboostablePhrase


@dataclass
class Transcript:
    """Finals with words of one channel, in order; those without are dropped.

    failed: decoding the channel did, and its text is missing.
    """

    finals: list[Final] = field(default_factory=list)
    boost_warnings: list[BoostWarning] = field(default_factory=list)
    duration_s: float = 0.0
    failed: bool = False

    @property
    def unboostable(self) -> list[UnboostablePhrase]:
        """Phrases that were decoded without their boost."""
        return [each for each in self.boost_warnings if isinstance(each, UnboostablePhrase)]

    def add(self, final: Final) -> None:
        """Append a final."""
        if final.alternatives and final.alternatives[0].text:
            self.finals.append(final)

    def text(self) -> str:
        """One line per utterance."""
        return text_of([self])


def text_of(channels: Sequence[Transcript]) -> str:
    """One line per utterance, in the order of time; of several channels each line says which."""
    lines = [
        (f"[channel {channel}] " if len(channels) > 1 else "") + final.alternatives[0].text + "\n"
        for channel, final in in_time(channels)
    ]
    return "".join(lines)


def in_time(channels: Sequence[Transcript]) -> Iterator[tuple[int, Final]]:
    """Yield the finals of all channels, each with its channel, in the order of time."""
    said = [(number, final) for number, channel in enumerate(channels) for final in channel.finals]
    yield from sorted(said, key=lambda each: each[1].start_s)
