"""The audio of one socket: binary messages in, samples at the model's rate out."""

import hashlib

import numpy as np

from service.audio.pcm import PcmDecoder, PcmFormat, Samples
from service.audio.resampler import Resampler
from service.audio.wav_header import WavHeader
from service.errors import UndecodableAudio

_NOTHING: Samples = np.empty(0, dtype=np.float32)


class SocketAudio:
    """Decodes and resamples what a client sends; without a stated format it reads a WAV header."""

    def __init__(self, pcm: PcmFormat | None, model_rate_hz: int) -> None:
        self._model_rate_hz = model_rate_hz
        self._header = WavHeader()
        self._decoder: PcmDecoder | None = None
        self._resampler: Resampler | None = None
        self._digest = hashlib.sha256()
        if pcm is not None:
            self._begin(pcm)

    @property
    def sha256(self) -> str:
        """Digest of all bytes received so far, as hexadecimal."""
        return self._digest.hexdigest()

    def decode(self, data: bytes) -> Samples:
        """Return the samples completed by ``data``, shape ``(N,)``.

        Raises:
            UndecodableAudio: the bytes are not the audio they should be.
        """
        self._digest.update(data)
        if self._decoder is None:
            parsed = self._header.feed(data)
            if parsed is None:
                return _NOTHING
            pcm, data = parsed
            self._begin(pcm)
        assert self._decoder is not None
        assert self._resampler is not None
        return self._resampler.resample(self._decoder.decode(data))

    def flush(self) -> Samples:
        """Return the last samples, still in the resampler's filter; call it once, at the end.

        Raises:
            UndecodableAudio: the audio ended inside its header.
        """
        if self._resampler is None:
            if self._header.begun:
                raise UndecodableAudio("the audio ended before its WAV header was complete")
            return _NOTHING
        return self._resampler.resample(_NOTHING, last=True)

    def _begin(self, pcm: PcmFormat) -> None:
        self._decoder = PcmDecoder(pcm)
        self._resampler = Resampler(pcm.sample_rate_hz, self._model_rate_hz)
