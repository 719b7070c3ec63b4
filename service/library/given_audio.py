"""What a program gives to be transcribed: a path, a file's bytes, an open file, or samples."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from numpy.typing import ArrayLike, NDArray

from earshot.service.audio.file_reader import AudioFile
from earshot.service.errors import UndecodableAudio
from earshot.service.files.file_transcription import AudioSource
from earshot.service.http.upload import temporary_file
from earshot.service.library.sample_blocks import SampleBlocks, samples_of
from earshot.streaming.samples import Samples

FilePath: TypeAlias = str | PathLike[str]
Audio: TypeAlias = FilePath | bytes | bytearray | BinaryIO | ArrayLike
"""A file's path, its bytes or itself, open for bytes and read from where it stands; or samples,
mono `(N,)`: floats in [-1, 1] or int16."""

_COPIED_BYTES = 1 << 20
_BLOCK_SAMPLES = 1 << 16


@contextmanager
def opened(audio: Audio, sample_rate_hz: int | None, model_rate_hz: int) -> Iterator[AudioSource]:
    """Recognise audio, which can be read inside the block, at the model's rate.

    sample_rate_hz: of samples; files say their own.

    Raises:
        UndecodableAudio: it is no audio, or the rate is missing or not one of audio. A path is
            named in the message.
    """
    file = _file_in(audio)
    if file is None and not isinstance(audio, str | PathLike):
        if sample_rate_hz is None:
            raise UndecodableAudio("samples need sample_rate_hz, which a file would say itself")
        yield _source(samples_of(audio), sample_rate_hz, model_rate_hz)
        return
    if sample_rate_hz is not None:
        raise UndecodableAudio(
            "sample_rate_hz is of samples, a file says its own; raw ones in bytes are "
            "numpy.frombuffer(data, numpy.int16)"
        )
    if isinstance(audio, str | PathLike):
        with _named(audio):
            yield AudioFile(Path(audio), model_rate_hz)
    elif file is not None:
        with temporary_file() as (copy, to):  # formats need seeking
            _copy(file, to)
            yield AudioFile(copy, model_rate_hz)


def _file_in(audio: Audio) -> BinaryIO | None:
    """An open file, or bytes as one; None for what is neither."""
    if isinstance(audio, bytes | bytearray):
        return io.BytesIO(audio)
    is_open = callable(getattr(audio, "read", None))
    return cast(BinaryIO, audio) if is_open else None


@contextmanager
def _named(path: FilePath) -> Iterator[None]:
    try:
        yield
    except UndecodableAudio as error:
        raise UndecodableAudio(f"{path}: {error}") from error


def _copy(file: BinaryIO, copy: BinaryIO) -> None:
    while data := file.read(_COPIED_BYTES):
        if not isinstance(data, bytes):
            raise UndecodableAudio("the file is open for text: audio needs open(path, 'rb')")
        copy.write(data)
    copy.flush()


@dataclass(frozen=True)
class _Samples:
    """Samples as a source, which the engine's backlog paces."""

    audio: SampleBlocks
    duration_s: float | None

    def blocks(self) -> Iterator[Samples]:
        for push in self.audio.pushes():
            yield push.samples


def _source(samples: NDArray[Any], rate_hz: int, model_rate_hz: int) -> AudioSource:
    starts = range(0, len(samples), _BLOCK_SAMPLES)
    blocks = (samples[start : start + _BLOCK_SAMPLES] for start in starts)
    return _Samples(SampleBlocks(blocks, rate_hz, model_rate_hz), len(samples) / rate_hz)
