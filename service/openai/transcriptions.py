"""POST /v1/audio/transcriptions: a form with a file in, its text out, whole or as it is found."""

import json
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import replace

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from earshot.service.best_reading import best_text
from earshot.service.core.services import Services, services_of
from earshot.service.files.file_job import FileJob, Progress
from earshot.service.files.file_request import (
    ReceivedFile,
    answered,
    begin_file,
    note_failure,
    note_success,
    transcripts,
)
from earshot.service.files.file_warnings import file_warnings
from earshot.service.http.origin import check_origin
from earshot.service.http.request_id import request_id_of
from earshot.service.http.upload import UploadLimits, body_chunks, check_length, temporary_file
from earshot.service.openai.form_body import OTHER_FIELDS, FormBody
from earshot.service.openai.known_names import OPENAIS
from earshot.service.openai.refusal_answer import REQUEST_ID, error_body, refusal_answer
from earshot.service.openai.transcription_answer import TranscriptionAnswer
from earshot.service.openai.transcription_fields import TranscriptionFields, read_fields
from earshot.service.request.parameters import ParameterRules
from earshot.service.transcript import Transcript
from earshot.streaming.events import Final

router = APIRouter()


@router.post("/v1/audio/transcriptions")
async def transcribe(request: Request) -> Response:
    """Transcribe the file of a form."""
    services, request_id = services_of(request), request_id_of(request.scope)
    answer = _answer(request, services, request_id)
    return await answered(services, request_id, answer, refusal_answer)


async def _answer(request: Request, services: Services, request_id: str) -> Response:
    form = _Form(request, services)
    job = await begin_file(services, request_id, form.receive)
    answers = _Answers(services, job, form.asked, request_id)
    if form.asked.streams:
        return answers.as_events()
    return answers.whole(await transcripts(request, job))


class _Form:
    """The body of a request, until its file is received; then what it asks."""

    asked: TranscriptionFields

    def __init__(self, request: Request, services: Services) -> None:
        settings = services.settings
        self._request = request
        self._rules = ParameterRules.of(settings, services.model, OPENAIS)
        self._limits = UploadLimits(settings.max_file_bytes, settings.upload_timeout_s)
        services.admission.check_ready()
        check_origin(request.headers, settings.allowed_origins)
        check_length(request, self._limits)

    async def receive(self, stack: ExitStack) -> ReceivedFile:
        path, file = stack.enter_context(temporary_file())
        content_type = self._request.headers.get("content-type", "")
        form = FormBody(content_type, file, self._rules.boosts.max_phrases + OTHER_FIELDS)
        async for chunk in body_chunks(self._request, self._limits):
            form.take(chunk)
        form.end()
        file.flush()
        self.asked = read_fields(form.fields, self._rules)
        return ReceivedFile(path, self.asked.parameters)


class _Answers:
    """The answers to one file."""

    def __init__(
        self, services: Services, job: FileJob, asked: TranscriptionFields, request_id: str
    ) -> None:
        self._services = services
        self._job = job
        self._asked = asked
        self._request_id = request_id
        self._answer = TranscriptionAnswer(asked, request_id, _language(asked, services))

    def whole(self, channels: list[Transcript]) -> Response:
        """All at once."""
        note_success(self._services, self._request_id, self._job, channels)
        [transcript] = channels
        return self._answer.response(
            self._written(transcript), file_warnings(channels, self._asked.parameters)
        )

    def as_events(self) -> Response:
        """Each utterance when it is final, and all of them at the end."""
        headers = {REQUEST_ID: self._request_id, "cache-control": "no-store"}
        return StreamingResponse(self._events(), headers=headers, media_type="text/event-stream")

    async def _events(self) -> AsyncIterator[str]:
        space = ""
        try:
            async for update in self._job.updates():
                if not isinstance(update, Progress) and (text := best_text(self._final(update[1]))):
                    yield _event({"type": "transcript.text.delta", "delta": space + text})
                    space = " "
            [transcript] = channels = await self._job.running
            note_success(self._services, self._request_id, self._job, channels)
            warnings = file_warnings(channels, self._asked.parameters)
            done = self._answer.json_object(self._written(transcript), warnings)
            yield _event({"type": "transcript.text.done", **done})
        except Exception as error:  # noqa: BLE001 - the answer has begun: LastResort comes too late
            refusal = note_failure(self._services, self._request_id, error)
            yield _event(error_body(refusal))
        finally:
            self._job.abandon()

    def _written(self, transcript: Transcript) -> Transcript:
        return replace(transcript, finals=[self._final(final) for final in transcript.finals])

    def _final(self, final: Final) -> Final:
        return self._asked.parameters.writing.of(final)


def _language(asked: TranscriptionFields, services: Services) -> str:
    """What the request says, or what the model knows if that is one."""
    known = services.model.languages
    return asked.parameters.stream.language or (known[0] if len(known) == 1 else "")


def _event(data: dict[str, object]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
