"""A recording as the streams hear it: mixed to one channel, or each channel by itself."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from earshot.service.core.engine_port import EnginePort
from earshot.service.files.file_transcription import AudioSource, FileTranscription
from earshot.service.transcript import Transcript
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import Event
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.stream_name import StreamName


class Recorded(Protocol):
    """Audio on disk."""

    @property
    def channels(self) -> int:
        """How many there are."""

    @property
    def duration_s(self) -> float | None:
        """Seconds of audio, if it is known."""

    def blocks(self, channel: int | None = None) -> Iterator[Samples]:
        """Yield one channel, or the mix of all, from the start."""


@dataclass(frozen=True)
class _OneChannel:
    """A channel of a recording, as a source of its own."""

    audio: Recorded
    channel: int | None

    @property
    def duration_s(self) -> float | None:
        return self.audio.duration_s

    def blocks(self) -> Iterator[Samples]:
        return self.audio.blocks(self.channel)


def sources_of(audio: Recorded, *, apart: bool) -> list[AudioSource]:
    """The channels of a recording, or their mix as the only one."""
    channels: Sequence[int | None] = range(audio.channels) if apart else [None]
    return [_OneChannel(audio, channel) for channel in channels]


class RecordingTranscription:
    """Transcribes channels one after the other, so that a file never holds two streams.

    on_event is called as FileTranscription calls it, with the channel's number besides.
    """

    def __init__(
        self,
        engine: EnginePort,
        sources: Sequence[AudioSource],
        config: StreamConfig,
        on_event: Callable[[int, Event], None],
        request_id: str | None = None,
    ) -> None:
        self._channels = [
            FileTranscription(
                engine, source, config, partial(on_event, channel), StreamName(request_id, channel)
            )
            for channel, source in enumerate(sources)
        ]

    @property
    def done_s(self) -> float:
        """Seconds of audio decoded so far, of all channels."""
        return sum(channel.done_s for channel in self._channels)

    @property
    def duration_s(self) -> float | None:
        """Seconds of audio of all channels, if the source says."""
        each_s = self._channels[0].audio.duration_s
        return None if each_s is None else each_s * len(self._channels)

    def run(self) -> list[Transcript]:
        """Return the transcript of each channel; raises as `FileTranscription.run` does.

        Where decoding fails in one channel, the others' text is worth having: its own transcript
        is then empty, and says that it failed. It raises where all fail.
        """
        transcripts: list[Transcript] = []
        failures: list[DecodingFailed] = []
        for channel in self._channels:
            try:
                transcripts.append(channel.run())
            except DecodingFailed as error:
                failures.append(error)
                transcripts.append(Transcript(failed=True))
        if len(failures) == len(self._channels):
            raise failures[0]
        return transcripts

    def cancel(self, reason: Exception) -> None:
        """Make `run` raise ``reason`` soon; from any thread."""
        for channel in self._channels:
            channel.cancel(reason)
