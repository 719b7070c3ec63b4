"""From the engine's events to messages on the wire."""

from collections.abc import Sequence
from datetime import UTC, datetime

from earshot.service.deepgram.response.model_list import model_info
from earshot.service.deepgram.response.wire import (
    Channel,
    Message,
    Metadata,
    Results,
    ResultsMetadata,
    SpeechStartedMessage,
    UtteranceEndMessage,
    WireAlternative,
    WireWord,
)
from earshot.service.request.request_warning import RequestWarning
from earshot.service.served_model import ServedModel
from earshot.service.writing import AS_HEARD, Result, Writing
from earshot.service.written_words import WrittenWord
from earshot.streaming.events import (
    Alternative,
    Final,
    Partial,
    SpeechStarted,
    UtteranceEnd,
    Word,
)


class ResultMessages:
    """Builds the messages of one request. writing: how it wants its results written.

    channels: that are heard apart.
    """

    def __init__(
        self,
        request_id: str,
        model: ServedModel,
        *,
        writing: Writing = AS_HEARD,
        channels: int = 1,
    ) -> None:
        self.request_id = request_id
        self.model = model
        self.channels = channels
        self._writing = writing
        self.created = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._metadata = ResultsMetadata(
            request_id=request_id, model_info=model_info(model), model_uuid=model.uuid
        )

    def results(
        self,
        event: Partial | Final,
        channel: int = 0,
        warnings: Sequence[RequestWarning] = (),
    ) -> Results:
        """A partial or final; an empty one still has one (empty) alternative, as clients expect."""
        event = self.written(event)
        final = event if isinstance(event, Final) else None
        alternatives = [wire_alternative(each) for each in event.alternatives]
        return Results(
            channel_index=(channel, self.channels),
            start=round(event.start_s, 3),
            duration=round(event.duration_s, 3),
            is_final=final is not None,
            speech_final=final is not None and final.speech_final,
            from_finalize=final is not None and final.from_finalize,
            channel=Channel(alternatives=alternatives or [EMPTY_ALTERNATIVE]),
            metadata=self._metadata_with(warnings),
            stable_words=event.stable_words if isinstance(event, Partial) else None,
            second_pass_failed=True if final is not None and final.second_pass_failed else None,
        )

    def _metadata_with(self, warnings: Sequence[RequestWarning]) -> ResultsMetadata:
        if not warnings:
            return self._metadata
        return self._metadata.model_copy(update={"warnings": list(warnings)})

    def written(self, result: Result) -> Result:
        """The result with its text as this request wants it."""
        return self._writing.of(result)

    def notice(self, event: SpeechStarted | UtteranceEnd, channel: int = 0) -> Message:
        """The message for an event that is no result."""
        where = (channel, self.channels)
        match event:
            case SpeechStarted(time_s):
                return SpeechStartedMessage(channel=where, timestamp=round(time_s, 3))
            case UtteranceEnd(last_word_end_s):
                return UtteranceEndMessage(channel=where, last_word_end=round(last_word_end_s, 3))

    def closing(
        self, duration_s: float, sha256: str, warnings: Sequence[RequestWarning] = ()
    ) -> Metadata:
        """The last message of a stream that ended well."""
        return Metadata(
            request_id=self.request_id,
            sha256=sha256,
            created=self.created,
            duration=round(duration_s, 3),
            models=[self.model.uuid],
            model_info={self.model.uuid: model_info(self.model)},
            warnings=list(warnings) or None,
            channels=self.channels,
        )


EMPTY_ALTERNATIVE = WireAlternative(transcript="", confidence=0.0, words=[])


def wire_alternative(alternative: Alternative) -> WireAlternative:
    """Spell one hypothesis in wire fields."""
    return WireAlternative(
        transcript=alternative.text,
        confidence=round(alternative.confidence, 4),
        words=[wire_word(word) for word in alternative.words],
    )


def wire_word(word: Word) -> WireWord:
    """Spell one word in wire fields; `punctuated_word` is with capitals and marks, or a figure."""
    return WireWord(
        word=word.heard if isinstance(word, WrittenWord) else word.text,
        start=round(word.start_s, 3),
        end=round(word.end_s, 3),
        confidence=round(word.confidence, 4),
        punctuated_word=word.text,
        boosted=True if word.boosted else None,
    )
