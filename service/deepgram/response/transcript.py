"""The text of one file, as its finals come in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from earshot.service.deepgram.response.paragraphs import paragraphs_of
from earshot.service.deepgram.response.result_messages import (
    EMPTY_ALTERNATIVE,
    ServedModel,
    wire_alternative,
)
from earshot.service.deepgram.response.wire import (
    Channel,
    FileMetadata,
    FileResponse,
    FileResults,
    RequestWarning,
    Utterance,
    WireAlternative,
)
from earshot.streaming.events import Final, UnboostablePhrase


@dataclass
class Transcript:
    """Finals with words of one channel, in order; those without are dropped.

    failed: decoding the channel did, and its text is missing.
    """

    finals: list[Final] = field(default_factory=list)
    unboostable: list[UnboostablePhrase] = field(default_factory=list)
    duration_s: float = 0.0
    failed: bool = False

    def add(self, final: Final) -> None:
        """Append a final."""
        if final.alternatives and final.alternatives[0].text:
            self.finals.append(final)

    def text(self) -> str:
        """One line per utterance."""
        return text_of([self])

    def reading(self, *, paragraphs: bool) -> Channel:
        """The channel as a whole: its n-th reading joins the n-th (or last) of each utterance."""
        depth = max((len(final.alternatives) for final in self.finals), default=0)
        readings = [self._joined(rank) for rank in range(depth)] or [EMPTY_ALTERNATIVE]
        if paragraphs:
            divided = {"paragraphs": paragraphs_of(self.finals)}
            readings[0] = readings[0].model_copy(update=divided)
        return Channel(alternatives=readings)

    def _joined(self, rank: int) -> WireAlternative:
        chosen = [
            final.alternatives[min(rank, len(final.alternatives) - 1)] for final in self.finals
        ]
        words = [word for each in chosen for word in wire_alternative(each).words]
        return WireAlternative(
            transcript=" ".join(each.text for each in chosen if each.text),
            confidence=round(sum(word.confidence for word in words) / max(1, len(words)), 4),
            words=words,
        )


def text_of(channels: Sequence[Transcript]) -> str:
    """One line per utterance, in the order of time; of several channels each line says which."""
    lines = [
        (f"[channel {channel}] " if len(channels) > 1 else "") + final.alternatives[0].text + "\n"
        for channel, final in _in_time(channels)
    ]
    return "".join(lines)


def file_response(
    channels: Sequence[Transcript],
    request_id: str,
    created: str,
    sha256: str,
    model: ServedModel,
    warnings: Sequence[RequestWarning] = (),
    *,
    paragraphs: bool = False,
) -> FileResponse:
    """The whole answer in Deepgram's shape."""
    return FileResponse(
        metadata=FileMetadata(
            request_id=request_id,
            sha256=sha256,
            created=created,
            duration=round(max(channel.duration_s for channel in channels), 3),
            channels=len(channels),
            models=[model.uuid],
            model_info={model.uuid: model.info},
            warnings=list(warnings) or None,
        ),
        results=FileResults(
            channels=[channel.reading(paragraphs=paragraphs) for channel in channels],
            utterances=[
                _utterance(final, channel, f"{request_id}-{index}")
                for index, (channel, final) in enumerate(_in_time(channels))
            ],
        ),
    )


def _in_time(channels: Sequence[Transcript]) -> Iterator[tuple[int, Final]]:
    said = [(number, final) for number, channel in enumerate(channels) for final in channel.finals]
    yield from sorted(said, key=lambda each: each[1].start_s)


def _utterance(final: Final, channel: int, identifier: str) -> Utterance:
    best = wire_alternative(final.alternatives[0])
    return Utterance(
        start=best.words[0].start if best.words else round(final.start_s, 3),
        end=best.words[-1].end if best.words else round(final.start_s + final.duration_s, 3),
        confidence=best.confidence,
        channel=channel,
        transcript=best.transcript,
        words=best.words,
        id=identifier,
    )
