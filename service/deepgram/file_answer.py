"""A transcript in the format a request asked for."""

import json
from dataclasses import dataclass, replace

from starlette.responses import Response

from earshot.service.deepgram.response.file_response import file_response
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.files.file_warnings import file_warnings
from earshot.service.http.header_value import header_list
from earshot.service.request.parameters import FileFormat, ListenParameters
from earshot.service.subtitles import srt, vtt
from earshot.service.transcript import Transcript, text_of
from earshot.streaming.events import Final

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

    def body(self, *channels: Transcript) -> str:
        """Write the transcripts of the channels: one, unless they were heard apart."""
        warnings = file_warnings(channels, self.parameters)
        written = [replace(channel, finals=self._written(channel)) for channel in channels]
        match self.parameters.format:
            case "json":
                messages = self.messages
                return file_response(
                    written,
                    messages.request_id,
                    messages.created,
                    self.sha256,
                    messages.model,
                    warnings,
                    paragraphs=self.parameters.paragraphs,
                ).to_json()
            case "text":
                return text_of(written)
            case "srt":
                return srt(*(channel.finals for channel in written))
            case "vtt":
                return vtt(*(channel.finals for channel in written))

    def response(self, *channels: Transcript) -> Response:
        """The answer as one HTTP response; formats without metadata have warnings in a header."""
        headers = {"dg-request-id": self.messages.request_id}
        if warnings := file_warnings(channels, self.parameters):
            headers["dg-warning"] = header_list([each.message for each in warnings])
        return Response(
            self.body(*channels),
            headers=headers,
            media_type=_MEDIA_TYPES[self.parameters.format],
        )

    def event_data(self, *channels: Transcript) -> str:
        """The answer as the data of an event: one JSON object whatever the format."""
        body = self.body(*channels)
        if self.parameters.format == "json":
            return body
        warnings = [
            each.model_dump(exclude_none=True) for each in file_warnings(channels, self.parameters)
        ]
        told = {"warnings": warnings} if warnings else {}
        return json.dumps({"format": self.parameters.format, "content": body, **told})

    def _written(self, channel: Transcript) -> list[Final]:
        return [self.messages.written(final) for final in channel.finals]
