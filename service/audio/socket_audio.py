"""The audio of one socket: binary messages in, samples at the model's rate out."""

import hashlib

import numpy as np

from earshot.service.audio.containers import may_begin_a_file, sniff_in_samples
from earshot.service.audio.pcm import PcmDecoder, PcmFormat, one_of
from earshot.service.audio.resampler import Resampler
from earshot.service.audio.wav_header import WavHeader
from earshot.service.errors import UndecodableAudio
from earshot.streaming.samples import Samples

_NOTHING: Samples = np.empty(0, dtype=np.float32)


class SocketAudio:
    """Decodes and resamples what a client sends; without a stated format it reads a WAV header.

    channels: to be heard apart; None mixes all that there are into one.
    """

    def __init__(
        self, pcm: PcmFormat | None, model_rate_hz: int, channels: int | None = None
    ) -> None:
        self._model_rate_hz = model_rate_hz
        self._channels = channels
        self._header = WavHeader()
        self._decoder: PcmDecoder | None = None
        self._resamplers: list[Resampler] = []
        self._digest = hashlib.sha256()
        self._head: bytes | None = None if pcm is None else b""
        if pcm is not None:
            self._begin(pcm)

    @property
    def sha256(self) -> str:
        """Digest of all bytes received so far, as hexadecimal."""
        return self._digest.hexdigest()

    def decode(self, data: bytes) -> list[Samples]:
        """Return the samples completed by ``data``, shape ``(N,)``, of each channel heard apart.

        Raises:
            UndecodableAudio: the bytes are not the audio they should be.
        """
        self._digest.update(data)
        if self._head is not None:
            self._head += data
            return [] if may_begin_a_file(self._head) else self._begun()
        if self._decoder is None:
            parsed = self._header.feed(data)
            if parsed is None:
                return []
            pcm, data = parsed
            self._begin(pcm)
        return self._resampled(data)

    def flush(self) -> list[Samples]:
        """Return the last samples, still in the resampler's filter; call it once, at the end.

        Raises:
            UndecodableAudio: the audio ended inside its header.
        """
        if self._decoder is None and self._header.begun:
            raise UndecodableAudio("the audio ended before its WAV header was complete")
        begun = self._begun() if self._head else []
        rest = [resampler.resample(_NOTHING, last=True) for resampler in self._resamplers]
        return [np.concatenate(each) for each in zip(begun, rest, strict=True)] if begun else rest

    def _begun(self) -> list[Samples]:
        """The first samples, once it is clear that they are none of a file."""
        assert self._head is not None
        head, self._head = self._head, None
        _check_is_no_file(head)
        return self._resampled(head)

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


def _check_is_no_file(data: bytes) -> None:
    """What a browser's recorder makes has no samples; it would be heard as noise."""
    container = sniff_in_samples(data)
    if container is not None:
        raise UndecodableAudio(
            f"the audio is {container.name}, not the samples that encoding says: send samples, or "
            "POST the file to /v1/listen"
        )
