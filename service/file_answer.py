"""A transcript in the format a request asked for."""

import json
from dataclasses import dataclass, replace

from starlette.responses import Response

from service.parameters import FileFormat
from service.result_messages import ResultMessages
from service.subtitles import srt, vtt
from service.transcript import Transcript

_MEDIA_TYPES: dict[FileFormat, str] = {
    "json": "application/json",
    "text": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
}


@dataclass(frozen=True)
class FileAnswer:
    """All that the answer needs besides the transcript."""

    format: FileFormat
    messages: ResultMessages
    sha256: str

    def body(self, transcript: Transcript) -> str:
        """Write the transcript."""
        finals = [self.messages.written(final) for final in transcript.finals]
        transcript = replace(transcript, finals=finals)
        match self.format:
            case "json":
                messages = self.messages
                return transcript.response(
                    messages.request_id, messages.created, self.sha256, messages.model
                ).to_json()
            case "text":
                return transcript.text()
            case "srt":
                return srt(transcript.finals)
            case "vtt":
                return vtt(transcript.finals)

    def response(self, transcript: Transcript) -> Response:
        """The answer as one HTTP response."""
        return Response(
            self.body(transcript),
            headers={"dg-request-id": self.messages.request_id},
            media_type=_MEDIA_TYPES[self.format],
        )

    def event_data(self, transcript: Transcript) -> str:
        """The answer as the data of an event: one JSON object whatever the format."""
        body = self.body(transcript)
        if self.format == "json":
            return body
        return json.dumps({"format": self.format, "content": body})
