"""The file of a request in whichever protocol: its place, its job, and what the log says."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from earshot.service.audio.file_reader import AudioFile
from earshot.service.audio.raw_file import RawFile
from earshot.service.core.services import Services
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.files.file_job import ClientGone, FileJob
from earshot.service.files.file_transcription import AudioSource
from earshot.service.files.recording import Recorded, sources_of
from earshot.service.http.refusals import Refusal
from earshot.service.http.request_log import log
from earshot.service.request.parameters import ListenParameters
from earshot.service.transcript import Transcript, text_of
from earshot.streaming.errors import StreamingError


@dataclass(frozen=True)
class ReceivedFile:
    """Where a file lies that a request has sent, and how it is to be heard."""

    path: Path
    parameters: ListenParameters


_CLIENT_GONE = Response(status_code=499)  # nginx's word for it; nobody reads it

Receive: TypeAlias = Callable[[ExitStack], Awaitable[ReceivedFile]]
"""Takes a request's body. What lies in the stack is held until the file's job is done."""


async def begin_file(services: Services, request_id: str, receive: Receive) -> FileJob:
    """Take a place, receive the file and start its job, which then holds what was taken.

    Raises NotReady, Busy, what ``receive`` raises, and what is wrong with the audio.
    """
    with ExitStack() as stack:
        stack.enter_context(services.admission.file_place())
        received = await receive(stack)
        sources = await asyncio.get_running_loop().run_in_executor(
            services.file_threads, _open_audio, received, services
        )
        config = received.parameters.stream
        job = FileJob(services.engine, sources, config, services.file_threads, request_id)
        stack.enter_context(services.work.doing(job))
        job.on_end(stack.pop_all().close)
    log.info("file_received", request_id=request_id, audio_s=sources[0].duration_s)
    return job


async def answered(
    services: Services,
    request_id: str,
    answer: Awaitable[Response],
    refuse: Callable[[Refusal], Response],
) -> Response:
    """The answer to a request with a file, or its refusal in the words of ``refuse``."""
    try:
        return await answer
    except (ServiceError, StreamingError) as error:
        return refuse(note_failure(services, request_id, error))
    except (ClientDisconnect, ClientGone):
        log.info("file_abandoned", request_id=request_id)
        return _CLIENT_GONE


async def transcripts(request: Request, job: FileJob) -> list[Transcript]:
    """Wait for a job's transcripts; it is given up, with ClientGone, where the client leaves."""
    gone = asyncio.ensure_future(request.receive())
    try:
        either: list[asyncio.Future[Any]] = [gone, job.running]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not job.running.done():
            job.abandon()
        return await job.running
    finally:
        gone.cancel()


def note_success(
    services: Services, request_id: str, job: FileJob, channels: Sequence[Transcript]
) -> None:
    """Count and log a file that is done."""
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


def note_failure(services: Services, request_id: str, error: Exception) -> Refusal:
    """Count and log a file that is not served; returns what its client is told."""
    refusal = Refusal.of(error, request_id)
    services.metrics.rejects.labels(refusal.code).inc()
    log.info("file_failed", error=type(error).__name__, **refusal.logged)
    if not isinstance(error, ServiceError | StreamingError):
        log.error("file_broke", request_id=request_id, exc_info=error)
    return refusal


def _open_audio(received: ReceivedFile, services: Services) -> list[AudioSource]:
    rate_hz, max_s = services.engine.sample_rate_hz, services.settings.max_file_s
    pcm, most = received.parameters.pcm, received.parameters.channels_apart
    apart = most is not None
    audio: Recorded
    if pcm is not None:
        audio = RawFile(received.path, pcm, rate_hz, max_s, apart=apart)
    else:
        audio = AudioFile(received.path, rate_hz, max_s, apart=apart)
    if most is not None and audio.channels > most:
        raise BadRequest(
            f"multichannel: the file has {audio.channels} channels; at most {most} are heard "
            "apart here"
        )
    return sources_of(audio, apart=apart)
