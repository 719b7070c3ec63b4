"""The audio of one socket: binary messages in, samples at the model's rate out, or what holds them.

What is in a container it only recognises: to decode that takes a thread (`unpacking`).
"""

import hashlib
from typing import TypeAlias

import numpy as np

from earshot.service.audio.containers import (
    CAF,
    UNLIKE_SAMPLES_BYTES,
    Container,
    may_begin_a_file,
    sniff_in_samples,
)
from earshot.service.audio.packed import Packed, Packing
from earshot.service.audio.pcm import PcmDecoder, PcmFormat, one_of
from earshot.service.audio.resampler import Resampler
from earshot.service.audio.stated_container import StatedContainer
from earshot.service.audio.wav_header import WavHeader
from earshot.service.errors import UndecodableAudio
from earshot.streaming.samples import Samples

_NOTHING: Samples = np.empty(0, dtype=np.float32)

Heard: TypeAlias = list[Samples] | Packed
"""Samples of each channel heard apart, shape ``(N,)``, or bytes of a container."""


class SocketAudio:
    """Decodes and resamples what a client sends; without a stated format its header says it.

    channels: to be heard apart; None mixes all that there are into one.
    stated: the container that the client has named. or_packed: what begins like a container is one,
        although `pcm` is stated.
    """

    def __init__(
        self,
        pcm: PcmFormat | None,
        model_rate_hz: int,
        channels: int | None = None,
        *,
        stated: Container | None = None,
        or_packed: bool = False,
    ) -> None:
        self._model_rate_hz = model_rate_hz
        self._channels = channels
        self._or_packed = or_packed
        self._header: WavHeader | StatedContainer = (
            WavHeader() if stated is None else StatedContainer(stated)
        )
        self._decoder: PcmDecoder | None = None
        self._packing: Packing | None = None
        self._resamplers: list[Resampler] = []
        self._digest = hashlib.sha256()
        self._head: bytes | None = None if pcm is None else b""
        if pcm is not None:
            self._begin(pcm)

    @property
    def sha256(self) -> str:
        """Digest of all bytes received so far, as hexadecimal."""
        return self._digest.hexdigest()

    def decode(self, data: bytes) -> Heard:
        """Return the samples completed by ``data``, or its bytes where they are a container's.

        Raises:
            UndecodableAudio: the bytes are not the audio they should be.
        """
        self._digest.update(data)
        if self._packing is not None:
            return Packed(self._packing, data)
        if self._head is not None:
            self._head += data
            return self._begun() if self._is_clear(self._head) else []
        if self._decoder is None:
            match self._header.feed(data):
                case None:
                    return []
                case Container() as container:
                    return self._unpack(container, self._header.read)
                case pcm, data:
                    self._begin(pcm)
        return self._resampled(data)

    def flush(self) -> Heard:
        """Return the last samples, still in the resampler's filter; call it once, at the end.

        Raises:
            UndecodableAudio: the audio ended inside its header.
        """
        if self._packing is not None:
            return Packed(self._packing, b"", last=True)
        if self._decoder is None and self._header.begun:
            raise UndecodableAudio("the audio ended before its header was complete")
        begun = self._begun() if self._head else []
        assert not isinstance(begun, Packed), "too short a head is no container's"
        rest = [resampler.resample(_NOTHING, last=True) for resampler in self._resamplers]
        return [np.concatenate(each) for each in zip(begun, rest, strict=True)] if begun else rest

    def _is_clear(self, head: bytes) -> bool:
        """Whether it shows what follows it."""
        if self._or_packed:
            return len(head) >= UNLIKE_SAMPLES_BYTES
        return not may_begin_a_file(head)

    def _begun(self) -> Heard:
        """The first samples, once it is clear whether they are some."""
        assert self._head is not None
        head, self._head = self._head, None
        container = sniff_in_samples(head)
        if container is None:
            return self._resampled(head)
        if self._or_packed:
            return self._unpack(container, head)
        # What a browser's recorder makes has no samples; it would be heard as noise.
        raise UndecodableAudio(
            f"the audio is {container.name}, not the samples that encoding says: leave encoding "
            "out, or send samples"
        )

    def _unpack(self, container: Container, data: bytes) -> Packed:
        if container is CAF:  # FFmpeg seeks in it
            raise UndecodableAudio(
                f"{container.name} cannot be streamed over a socket: POST the file to /v1/listen"
            )
        self._packing = Packing(container, self._channels)
        return Packed(self._packing, data)

    def _resampled(self, data: bytes) -> list[Samples]:
        assert self._decoder is not None
        samples = self._decoder.decode_apart(data)
        return [
            resampler.resample(one_of(samples, None if self._channels is None else channel))
            for channel, resampler in enumerate(self._resamplers)
        ]

    def _begin(self, pcm: PcmFormat) -> None:
        if self._channels not in (None, pcm.channels):
            raise UndecodableAudio(
                f"the audio has {pcm.channels} channels, and channels={self._channels} was asked"
            )
        self._decoder = PcmDecoder(pcm)
        self._resamplers = [
            Resampler(pcm.sample_rate_hz, self._model_rate_hz) for _ in range(self._channels or 1)
        ]
