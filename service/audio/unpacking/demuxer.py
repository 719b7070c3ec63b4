"""From a container that is still coming to samples, by FFmpeg, on a thread that may wait."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import av
import numpy as np

from earshot.service.audio.containers import Container
from earshot.service.audio.ffmpeg_errors import damaged, of_no_codec
from earshot.service.audio.packed import Packing
from earshot.service.audio.pcm import limited
from earshot.service.audio.resampler import MAX_RATE_HZ, MIN_RATE_HZ, Resampler
from earshot.service.audio.unpacking.guarded_source import GuardedSource
from earshot.service.errors import UndecodableAudio
from earshot.streaming.samples import Samples

_WHAT = "stream"
_OPTIONS = {
    "protocol_whitelist": "none",  # it is to open nothing else
    # FFmpeg would read on for seconds to know more than it needs.
    "analyzeduration": "1",
}
_OPTIONS_OF = {"wav": {"ignore_length": "1"}}  # who writes while it records knows no length


def unpacked(
    source: GuardedSource, packing: Packing, model_rate_hz: int
) -> Iterator[list[Samples]]:
    """Yield samples ``(N,)`` at the model's rate of each channel heard apart, or of their mix.

    Raises:
        UndecodableAudio: the bytes are damaged, hold no sound, or other channels than asked for.
        PipeClosed: nobody wants the samples.
    """
    container = packing.container
    with closing(_opened(source, container)) as opened:
        stream = opened.streams.audio[0]
        rate_hz = _rate_of(stream, packing)
        apart = packing.channels or 1
        resamplers = [Resampler(rate_hz, model_rate_hz) for _ in range(apart)]
        count = 0
        for floats in _decoded(opened, stream, source, packing):
            count += floats.shape[1]
            source.heard(floats.shape[1] / rate_hz)
            limits = limited(floats, f"the {container.name} {_WHAT}")
            yield [each.resample(limits[at]) for at, each in enumerate(resamplers)]
        if count == 0:
            raise _silent(container)
        nothing = np.empty(0, dtype=np.float32)
        yield [each.resample(nothing, last=True) for each in resamplers]


def _opened(source: GuardedSource, container: Container) -> "av.container.InputContainer":
    options = {**_OPTIONS, **_OPTIONS_OF.get(container.demuxer, {})}
    try:
        opened = av.open(source, "r", format=container.demuxer, options=options)
    except (av.FFmpegError, ValueError) as error:
        raise damaged(container, error, _WHAT) from error
    if not opened.streams.audio:
        opened.close()
        raise _silent(container)
    codec: object = opened.streams.audio[0].codec_context  # None, whatever PyAV's types say
    if codec is None:
        opened.close()
        raise of_no_codec(container, _WHAT)
    return opened


def _rate_of(stream: "av.AudioStream", packing: Packing) -> int:
    """The stream's rate in Hz, where it and the channels can be heard."""
    stream.codec_context.thread_count = 1
    rate_hz: int = stream.rate or 0
    channels = stream.codec_context.layout.nb_channels
    if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
        raise UndecodableAudio(f"a sample rate of {rate_hz} Hz is not supported")
    if packing.channels not in (None, channels):
        raise UndecodableAudio(
            f"the audio has {channels} channels, and channels={packing.channels} was asked"
        )
    return rate_hz


def _decoded(
    opened: "av.container.InputContainer",
    stream: "av.AudioStream",
    source: GuardedSource,
    packing: Packing,
) -> Iterator[Samples]:
    """Yield float samples at the stream's rate, ``(channels, N)``."""
    layout = "mono" if packing.channels is None else stream.layout  # FFmpeg mixes, and knows how
    to_floats = av.AudioResampler(format="fltp", layout=layout, rate=stream.rate)
    try:
        for frame in _frames(opened, stream, source):
            for floats in to_floats.resample(frame):
                yield floats.to_ndarray().astype(np.float32, copy=False)
        for floats in to_floats.resample(None):
            yield floats.to_ndarray().astype(np.float32, copy=False)
    except (av.FFmpegError, ValueError) as error:
        raise damaged(packing.container, error, _WHAT) from error


def _frames(
    opened: "av.container.InputContainer", stream: "av.AudioStream", source: GuardedSource
) -> Iterator["av.AudioFrame"]:
    """Yield frames. Who stops may do so anywhere: what is left of a packet then is no damage."""
    packets = opened.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            if source.has_ended and source.has_sounded:
                return
            raise
        if packet is None:
            return
        try:
            yield from packet.decode()
        except av.FFmpegError:
            if source.has_ended and source.has_sounded and not _is_another(packets):
                return
            raise


def _is_another(packets: Iterator[Any]) -> bool:
    """Whether a packet follows that holds something."""
    try:
        following = next(packets, None)
    except av.FFmpegError:
        return False
    return following is not None and following.size > 0


def _silent(container: Container) -> UndecodableAudio:
    return UndecodableAudio(f"the {container.name} {_WHAT} holds no audio")
