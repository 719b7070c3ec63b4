"""The transcript of a file in Deepgram's shape."""

from collections.abc import Sequence

from earshot.service.deepgram.response.model_list import model_info
from earshot.service.deepgram.response.paragraphs import paragraphs_of
from earshot.service.deepgram.response.result_messages import (
    EMPTY_ALTERNATIVE,
    wire_alternative,
)
from earshot.service.deepgram.response.wire import (
    Channel,
    FileMetadata,
    FileResponse,
    FileResults,
    Utterance,
    WireAlternative,
)
from earshot.service.request.request_warning import RequestWarning
from earshot.service.served_model import ServedModel
from earshot.service.transcript import Transcript, in_time
from earshot.streaming.events import Final


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
            model_info={model.uuid: model_info(model)},
            warnings=list(warnings) or None,
        ),
        results=FileResults(
            channels=[_reading(channel, paragraphs=paragraphs) for channel in channels],
            utterances=[
                _utterance(final, channel, f"{request_id}-{index}")
                for index, (channel, final) in enumerate(in_time(channels))
            ],
        ),
    )


def _reading(channel: Transcript, *, paragraphs: bool) -> Channel:
    """A channel as a whole: its n-th reading joins the n-th (or last) of each utterance."""
    depth = max((len(final.alternatives) for final in channel.finals), default=0)
    found = [_joined(channel, rank) for rank in range(depth)] or [EMPTY_ALTERNATIVE]
    if paragraphs:
        divided = {"paragraphs": paragraphs_of(channel.finals)}
        found[0] = found[0].model_copy(update=divided)
    return Channel(alternatives=found)


def _joined(channel: Transcript, rank: int) -> WireAlternative:
    chosen = [
        final.alternatives[min(rank, len(final.alternatives) - 1)] for final in channel.finals
    ]
    words = [word for each in chosen for word in wire_alternative(each).words]
    return WireAlternative(
        transcript=" ".join(each.text for each in chosen if each.text),
        confidence=round(sum(word.confidence for word in words) / max(1, len(words)), 4),
        words=words,
    )


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
