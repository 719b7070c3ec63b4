"""Pipecat's service for Deepgram in a pipeline: live, and what is refused."""

import asyncio
from pathlib import Path

from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.services.deepgram.stt import DeepgramSTTService
from pipecat.workers.runner import WorkerRunner
from seen import UNKNOWN, Seen, arguments, spoken

RATE = 16000


class Watcher(BaseObserver):
    """What the service pushes into the pipeline."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen, self.heard = seen, asyncio.Event()

    async def on_push_frame(self, data: FramePushed) -> None:
        """A frame on its way from one processor to the next."""
        if not isinstance(data.source, DeepgramSTTService):
            return
        frame = data.frame
        if isinstance(frame, InterimTranscriptionFrame | TranscriptionFrame):
            is_final = isinstance(frame, TranscriptionFrame)
            self.seen.hear(frame.text, is_final=is_final)
            if is_final:
                self.heard.set()
        elif isinstance(frame, ErrorFrame):
            status = getattr(frame.exception, "status_code", "without a status")
            self.seen.fail(f"{type(frame).__name__} {status}", frame.error.split(":")[0])
            self.heard.set()


async def speak(worker: PipelineWorker, file: Path, watcher: Watcher) -> None:
    """A turn as a detector of voice would frame it; the pipeline ends when its text is there."""
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def start(*_: object) -> None:
        started.set()

    await started.wait()
    await worker.queue_frame(VADUserStartedSpeakingFrame())
    async for piece in spoken(file):
        await worker.queue_frame(InputAudioRawFrame(piece, sample_rate=RATE, num_channels=1))
    await worker.queue_frame(VADUserStoppedSpeakingFrame())
    await asyncio.wait_for(watcher.heard.wait(), 30)
    await worker.queue_frame(EndFrame())


async def run(address: str, file: Path, seen: Seen, model: str) -> None:
    """One pipeline with the service alone."""
    service = DeepgramSTTService(
        api_key="any",
        base_url=f"ws://{address}",
        settings=DeepgramSTTService.Settings(model=model),
    )
    watcher = Watcher(seen)
    worker = PipelineWorker(
        Pipeline([service]),
        params=PipelineParams(audio_in_sample_rate=RATE),
        observers=[watcher],
    )
    runner = WorkerRunner()
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), speak(worker, file, watcher))


async def main() -> None:
    """Say what was seen."""
    address, file = arguments()
    seen = Seen()
    await run(address, file, seen, "nova-3-general")
    await run(address, file, seen, UNKNOWN)
    seen.show()


if __name__ == "__main__":
    asyncio.run(main())
