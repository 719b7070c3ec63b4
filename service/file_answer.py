"""A transcript in the format a request asked for."""

import json
from dataclasses import dataclass, replace

from starlette.responses import Response

from service.boosts import keyword_phrases
from service.parameters import FileFormat, ListenParameters
from service.refusals import header_safe
from service.result_messages import ResultMessages
from service.stream_warnings import warning_of
from service.subtitles import srt, vtt
from service.transcript import Transcript
from service.wire import RequestWarning

_MEDIA_TYPES: dict[FileFormat, str] = {
    "json": "application/json",
    "text": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
}


@dataclass(frozen=True)
class FileAnswer:
    """All that the answer needs besides the transcript."""

    parameters: ListenParameters
    messages: ResultMessages
    sha256: str

    def body(self, transcript: Transcript) -> str:
        """Write the transcript."""
        warnings = self._warnings(transcript)
        finals = [self.messages.written(final) for final in transcript.finals]
        transcript = replace(transcript, finals=finals)
        match self.parameters.format:
            case "json":
                messages = self.messages
                return transcript.response(
                    messages.request_id,
                    messages.created,
                    self.sha256,
                    messages.model,
                    warnings,
                    paragraphs=self.parameters.paragraphs,
                ).to_json()
            case "text":
                return transcript.text()
            case "srt":
                return srt(transcript.finals)
            case "vtt":
                return vtt(transcript.finals)

    def response(self, transcript: Transcript) -> Response:
        """The answer as one HTTP response; formats without metadata have warnings in a header."""
        headers = {"dg-request-id": self.messages.request_id}
        if warnings := self._warnings(transcript):
            headers["dg-warning"] = header_safe("; ".join(each.message for each in warnings))
        return Response(
            self.body(transcript),
            headers=headers,
            media_type=_MEDIA_TYPES[self.parameters.format],
        )

    def event_data(self, transcript: Transcript) -> str:
        """The answer as the data of an event: one JSON object whatever the format."""
        body = self.body(transcript)
        if self.parameters.format == "json":
            return body
        warnings = [each.model_dump(exclude_none=True) for each in self._warnings(transcript)]
        told = {"warnings": warnings} if warnings else {}
        return json.dumps({"format": self.parameters.format, "content": body, **told})

    def _warnings(self, transcript: Transcript) -> list[RequestWarning]:
        keywords = keyword_phrases(self.parameters.keywords)
        of_boosts = (warning_of(each, keywords) for each in transcript.unboostable)
        return list(dict.fromkeys([*self.parameters.warnings, *of_boosts]))
