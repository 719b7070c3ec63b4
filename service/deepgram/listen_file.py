"""POST /v1/listen: a file in, its text out, all at once or with progress as server-sent events."""

from collections.abc import AsyncIterator
from contextlib import ExitStack

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from earshot.service.core.services import Services, services_of
from earshot.service.deepgram.file_answer import FileAnswer
from earshot.service.deepgram.known_names import DEEPGRAMS
from earshot.service.deepgram.response.refusal_answer import error_body, refusal_answer
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.deepgram.response.wire import FileProgress
from earshot.service.errors import BadRequest
from earshot.service.files.file_job import FileJob, Progress
from earshot.service.files.file_request import (
    ReceivedFile,
    answered,
    begin_file,
    note_failure,
    note_success,
    transcripts,
)
from earshot.service.http.origin import check_origin
from earshot.service.http.request_id import request_id_of
from earshot.service.http.upload import (
    UploadLimits,
    check_length,
    receive_upload,
    temporary_file,
)
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)

router = APIRouter()


@router.post("/v1/listen")
async def listen_file(request: Request) -> Response:
    """Transcribe the request's body."""
    services, request_id = services_of(request), request_id_of(request.scope)
    answer = _answer(request, services, request_id)
    return await answered(services, request_id, answer, refusal_answer)


async def _answer(request: Request, services: Services, request_id: str) -> Response:
    job, answer = await _begin(request, services, request_id)
    if "text/event-stream" in request.headers.get("accept", ""):
        return _event_stream(job, answer, services)
    channels = await transcripts(request, job)
    note_success(services, request_id, job, channels)
    return answer.response(*channels)


async def _begin(
    request: Request, services: Services, request_id: str
) -> tuple[FileJob, FileAnswer]:
    services.admission.check_ready()
    check_origin(request.headers, services.settings.allowed_origins)
    rules = ParameterRules.of(services.settings, services.model, DEEPGRAMS)
    parameters = parse_parameters(request.query_params.multi_items(), rules, is_file=True)
    body = _Body(request, services, parameters)
    job = await begin_file(services, request_id, body.receive)
    messages = ResultMessages(
        request_id, services.model, writing=parameters.writing, channels=job.channels
    )
    return job, FileAnswer(parameters, messages, body.sha256)


class _Body:
    """The file itself, as all of a request's body. sha256: of what was received."""

    def __init__(self, request: Request, services: Services, parameters: ListenParameters) -> None:
        settings = services.settings
        self.sha256 = ""
        self._request = request
        self._parameters = parameters
        self._limits = UploadLimits(settings.max_file_bytes, settings.upload_timeout_s)
        _check_body_kind(request)
        check_length(request, self._limits)

    async def receive(self, stack: ExitStack) -> ReceivedFile:
        path, file = stack.enter_context(temporary_file())
        self.sha256 = await receive_upload(self._request, file, self._limits)
        return ReceivedFile(path, self._parameters)


def _check_body_kind(request: Request) -> None:
    """Refuse by the header what would be read in vain: a URL to fetch, a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        raise BadRequest(
            'a JSON body such as {"url": ...} is not supported, this server fetches no addresses: '
            "send the file's bytes as the body"
        )
    if kind.startswith("multipart/"):
        raise BadRequest(
            "a form is not supported here: send the file's bytes as the body, or the form to "
            "/v1/audio/transcriptions"
        )


def _event_stream(job: FileJob, answer: FileAnswer, services: Services) -> Response:
    return StreamingResponse(
        _events(job, answer, services),
        headers={"dg-request-id": answer.messages.request_id, "cache-control": "no-store"},
        media_type="text/event-stream",
    )


async def _events(job: FileJob, answer: FileAnswer, services: Services) -> AsyncIterator[str]:
    """Progress and segment events while it runs, then one result or error."""
    request_id = answer.messages.request_id
    try:
        async for update in job.updates():
            if isinstance(update, Progress):
                yield _event("progress", FileProgress.of(update).to_json())
            else:
                channel, final = update
                yield _event("segment", answer.messages.results(final, channel).to_json())
        channels = await job.running
        note_success(services, request_id, job, channels)
        yield _event("result", answer.event_data(*channels))
    except Exception as error:  # noqa: BLE001 - the answer has begun: LastResort comes too late
        refusal = note_failure(services, request_id, error)
        yield _event("error", error_body(refusal).to_json())
    finally:
        job.abandon()


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"
