"""POST /v1/listen: a file in, its text out, all at once or with progress as server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from earshot.service.audio.file_reader import AudioFile
from earshot.service.audio.raw_file import RawFile
from earshot.service.core.file_transcription import AudioSource
from earshot.service.core.recording import Recorded, sources_of
from earshot.service.core.services import Services, services_of
from earshot.service.deepgram.file_answer import FileAnswer
from earshot.service.deepgram.file_job import ClientGone, FileJob
from earshot.service.deepgram.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.deepgram.response.refusal_answer import error_body, refusal_answer
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.deepgram.response.wire import Progress
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.http.origin import check_origin
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_id import request_id_of
from earshot.service.http.request_log import log
from earshot.service.http.upload import (
    UploadLimits,
    check_length,
    receive_upload,
    temporary_file,
)
from earshot.service.transcript import Transcript, text_of
from earshot.streaming.errors import StreamingError

router = APIRouter()

CLIENT_GONE = Response(status_code=499)  # nginx's word for it; nobody reads it


@router.post("/v1/listen")
async def listen_file(request: Request) -> Response:
    """Transcribe the request's body."""
    services, request_id = services_of(request), request_id_of(request.scope)
    try:
        job, answer = await _begin(request, services, request_id)
        if "text/event-stream" in request.headers.get("accept", ""):
            return _event_stream(job, answer, services)
        channels = await _result(request, job)
        _note_success(services, request_id, job, channels)
        return answer.response(*channels)
    except (ServiceError, StreamingError) as error:
        return refusal_answer(_note_failure(services, request_id, error))
    except (ClientDisconnect, ClientGone):
        log.info("file_abandoned", request_id=request_id)
        return CLIENT_GONE


async def _begin(
    request: Request, services: Services, request_id: str
) -> tuple[FileJob, FileAnswer]:
    """Receive the file and start its job, which from then on holds what the request took."""
    services.admission.check_ready()
    check_origin(request.headers, services.settings.allowed_origins)
    rules = ParameterRules.of(services.settings, services.model)
    parameters = parse_parameters(request.query_params.multi_items(), rules, is_file=True)
    limits = UploadLimits(services.settings.max_file_bytes, services.settings.upload_timeout_s)
    _check_body_kind(request)
    check_length(request, limits)
    with ExitStack() as stack:
        stack.enter_context(services.admission.file_place())
        path, file = stack.enter_context(temporary_file())
        sha256 = await receive_upload(request, file, limits)
        sources = await asyncio.get_running_loop().run_in_executor(
            services.file_threads, _open_audio, path, parameters, services
        )
        job = FileJob(
            services.engine, sources, parameters.stream, services.file_threads, request_id
        )
        stack.enter_context(services.work.doing(job))
        job.on_end(stack.pop_all().close)
    messages = ResultMessages(
        request_id,
        services.model,
        writing=parameters.writing,
        channels=len(sources),
    )
    log.info("file_received", request_id=request_id, audio_s=sources[0].duration_s)
    return job, FileAnswer(parameters, messages, sha256)


def _check_body_kind(request: Request) -> None:
    """Refuse by the header what would be read in vain: a URL to fetch, a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        raise BadRequest(
            'a JSON body such as {"url": ...} is not supported, this server fetches no addresses: '
            "send the file's bytes as the body"
        )
    if kind.startswith("multipart/"):
        raise BadRequest("a form is not supported: send the file's bytes as the body")


async def _result(request: Request, job: FileJob) -> list[Transcript]:
    gone = asyncio.ensure_future(request.receive())
    try:
        either: list[asyncio.Future[Any]] = [gone, job.running]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not job.running.done():
            job.abandon()
        return await job.running
    finally:
        gone.cancel()


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
                yield _event("progress", update.to_json())
            else:
                channel, final = update
                yield _event("segment", answer.messages.results(final, channel).to_json())
        channels = await job.running
        _note_success(services, request_id, job, channels)
        yield _event("result", answer.event_data(*channels))
    except Exception as error:  # noqa: BLE001 - the answer has begun: LastResort comes too late
        refusal = _note_failure(services, request_id, error)
        yield _event("error", error_body(refusal).to_json())
    finally:
        job.abandon()


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"


def _open_audio(path: Path, parameters: ListenParameters, services: Services) -> list[AudioSource]:
    rate_hz, max_s = services.engine.sample_rate_hz, services.settings.max_file_s
    most = parameters.channels_apart
    apart = most is not None
    audio: Recorded
    if parameters.pcm is not None:
        audio = RawFile(path, parameters.pcm, rate_hz, max_s, apart=apart)
    else:
        audio = AudioFile(path, rate_hz, max_s, apart=apart)
    if most is not None and audio.channels > most:
        raise BadRequest(
            f"multichannel: the file has {audio.channels} channels; at most {most} are heard "
            "apart here"
        )
    return sources_of(audio, apart=apart)


def _note_success(
    services: Services, request_id: str, job: FileJob, channels: Sequence[Transcript]
) -> None:
    audio_s = sum(channel.duration_s for channel in channels)
    services.metrics.files.inc()
    services.metrics.audio_s.labels("file").inc(audio_s)
    log.info(
        "file_done",
        request_id=request_id,
        duration_s=round(job.age_s, 3),
        audio_s=round(audio_s, 3),
        utterances=sum(len(channel.finals) for channel in channels),
        **({"text": text_of(channels)} if services.settings.log_text else {}),
    )


def _note_failure(services: Services, request_id: str, error: Exception) -> Refusal:
    refusal = Refusal.of(error, request_id)
    services.metrics.rejects.labels(refusal.code).inc()
    log.info("file_failed", error=type(error).__name__, **refusal.logged)
    if not isinstance(error, ServiceError | StreamingError):
        log.error("file_broke", request_id=request_id, exc_info=error)
    return refusal
