"""Audio files of any common format, decoded block by block from disk.

libsndfile reads WAV, FLAC, Ogg, AIFF ..., PyAV the rest (MP3, MP4, M4A, WebM ...).
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import av
import numpy as np
import soundfile

from earshot.service.audio.containers import AAC, MP3, SNIFF_BYTES, Container, sniff
from earshot.service.audio.ffmpeg_errors import damaged, of_no_codec
from earshot.service.audio.mp3_length import stated_mp3_s
from earshot.service.audio.pcm import limited, one_of
from earshot.service.audio.resampler import MAX_RATE_HZ, MIN_RATE_HZ, Resampler
from earshot.service.audio.whole_file import check_is_whole
from earshot.service.errors import AudioTooLong, UndecodableAudio
from earshot.streaming.samples import Samples

BLOCK_S = 1.0
_SUBFORMATS_OF_SOUNDFILE = {"wav", "ogg", "flac", "aiff", "caf", "au", "w64"}
_ENDLESS_FRAMES = 1 << 60  # libsndfile's number for a FLAC file without a length
_MISSING_S = 0.5  # what a decoder may leave out of a whole file: its delay, an odd last frame

_Read = Callable[[int | None], tuple[int, Iterator[Samples]]]


class AudioFile:
    """One file on disk, recognised and ready to be decoded for a model of ``model_rate_hz``.

    max_s: of audio; of all channels together where each is heard ``apart``.

    Raises:
        UndecodableAudio: the file is of no known format, damaged, cut short or without audio.
        AudioTooLong: it is longer than ``max_s`` by its own word.
    """

    def __init__(
        self,
        path: Path,
        model_rate_hz: int,
        max_s: float = float("inf"),
        *,
        apart: bool = False,
    ) -> None:
        self._path = path
        self._model_rate_hz = model_rate_hz
        self.container = _recognise(path)
        self.duration_s, self.channels, self._read = self._open()
        self._max_s = max_s / self._heard_apart() if apart else max_s
        self._least_s = self._stated_s() or 0.0
        if self._least_s > self._max_s:
            raise AudioTooLong(
                f"the file holds {self._least_s:.0f} s, {self._max_s:.0f} s are allowed"
            )

    def blocks(self, channel: int | None = None) -> Iterator[Samples]:
        """Yield mono float32 samples at the model's rate, about a second at a time; None mixes.

        Raises:
            UndecodableAudio: the decoder failed, or the file ends before its header says.
            AudioTooLong: more than ``max_s`` seconds came out.
        """
        rate_hz, samples = self._read(channel)
        if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
            raise UndecodableAudio(f"a sample rate of {rate_hz} Hz is not supported")
        resampler, count = Resampler(rate_hz, self._model_rate_hz), 0
        for block in samples:
            count += len(block)
            if count > self._max_s * rate_hz:
                raise AudioTooLong(f"the file holds more than the {self._max_s:.0f} s allowed")
            yield resampler.resample(block)
        if count / rate_hz + _MISSING_S < self._least_s:
            raise UndecodableAudio(
                f"the file is damaged or cut: {count / rate_hz:.1f} of {self._least_s:.1f} s are "
                "there"
            )
        if count == 0:
            raise UndecodableAudio(f"the {self.container.name} file holds no audio")
        yield resampler.resample(np.empty(0, dtype=np.float32), last=True)

    def _heard_apart(self) -> int:
        if not self.channels:  # as FFmpeg says where a header's number makes no sense
            raise UndecodableAudio(
                f"the {self.container.name} file is damaged: its number of channels makes no sense"
            )
        return self.channels

    def _stated_s(self) -> float | None:
        """The length by the file's own word, None where the decoder's is a guess from its size."""
        if self.container is MP3:
            with self._path.open("rb") as file:
                return stated_mp3_s(file)
        return None if self.container is AAC else self.duration_s

    def _open(self) -> tuple[float | None, int, _Read]:
        """The length, if it is known, the number of channels, and how to read one, or their mix."""
        if self.container.demuxer in _SUBFORMATS_OF_SOUNDFILE:
            check_is_whole(self._path, self.container)
            try:
                with soundfile.SoundFile(self._path) as sound:
                    frames, duration_s = sound.frames, sound.frames / sound.samplerate
                    channels = sound.channels
                # Where a writer left the size open, libsndfile says 0 or a huge number.
                if 0 < frames < _ENDLESS_FRAMES:
                    return duration_s, channels, partial(_read_with_soundfile, self._path)
            except soundfile.LibsndfileError:
                pass  # a codec that libsndfile lacks, such as ALAC in CAF: PyAV decides
        duration_s_or_none, channels = _about_with_av(self._path, self.container)
        return duration_s_or_none, channels, partial(_read_with_av, self._path, self.container)


def _recognise(path: Path) -> Container:
    try:
        with path.open("rb") as file:
            head = file.read(SNIFF_BYTES)
    except OSError as error:
        raise UndecodableAudio(f"cannot be read: {error.strerror}") from error
    if not head:
        raise UndecodableAudio("the audio is empty")
    container = sniff(head)
    if container is None:
        hint = ": send a file's bytes, not JSON" if head.lstrip().startswith(b"{") else ""
        raise UndecodableAudio(f"the bytes are of no audio format we know{hint}")
    return container


def _read_with_soundfile(path: Path, channel: int | None) -> tuple[int, Iterator[Samples]]:
    sound = soundfile.SoundFile(path)
    return sound.samplerate, _soundfile_blocks(sound, channel)


def _soundfile_blocks(sound: soundfile.SoundFile, channel: int | None) -> Iterator[Samples]:
    count = 0
    with closing(sound):
        try:
            while len(block := sound.read(int(BLOCK_S * sound.samplerate), "float32", True)):
                count += len(block)
                yield limited(one_of(block, channel), "the file")
        except soundfile.LibsndfileError as error:
            raise UndecodableAudio(f"the file is damaged: {error.error_string}") from error
        if count < sound.frames:
            raise UndecodableAudio(f"the file is cut: {count} of {sound.frames} samples are there")


def _open_with_av(path: Path, container: Container) -> "av.container.InputContainer":
    # The demuxer is forced and no protocol allowed: a playlist in disguise must not make us
    # open other files or addresses.
    try:
        opened = av.open(
            str(path), format=container.demuxer, options={"protocol_whitelist": "file"}
        )
    except (av.FFmpegError, ValueError) as error:
        raise damaged(container, error) from error
    if not opened.streams.audio:
        opened.close()
        raise UndecodableAudio(f"the {container.name} file holds no audio")
    codec: object = opened.streams.audio[0].codec_context  # None, whatever PyAV's types say
    if codec is None:
        opened.close()
        raise of_no_codec(container)
    return opened


def _about_with_av(path: Path, container: Container) -> tuple[float | None, int]:
    """The length, if it is known, and the number of channels."""
    with closing(_open_with_av(path, container)) as opened:
        stream = opened.streams.audio[0]
        channels = stream.codec_context.layout.nb_channels
        if stream.duration is not None and stream.time_base is not None:
            return float(stream.duration * stream.time_base), channels
        # The file's own length is that of its longest stream.
        alone = len(opened.streams) == 1 and opened.duration is not None
        return ((opened.duration or 0) / av.time_base if alone else None), channels


def _read_with_av(
    path: Path, container: Container, channel: int | None
) -> tuple[int, Iterator[Samples]]:
    opened = _open_with_av(path, container)
    rate_hz = opened.streams.audio[0].rate or 0
    return rate_hz, _av_blocks(opened, container, channel)


def _av_blocks(
    opened: "av.container.InputContainer", container: Container, channel: int | None
) -> Iterator[Samples]:
    stream = opened.streams.audio[0]
    layout = "mono" if channel is None else stream.layout  # FFmpeg mixes, and knows how
    to_floats = av.AudioResampler(format="fltp", layout=layout, rate=stream.rate)
    with closing(opened):
        try:
            for frame in opened.decode(stream):
                for floats in to_floats.resample(frame):
                    yield limited(floats.to_ndarray()[channel or 0], "the file")
            for floats in to_floats.resample(None):
                yield limited(floats.to_ndarray()[channel or 0], "the file")
        except (av.FFmpegError, ValueError) as error:
            raise damaged(container, error) from error
