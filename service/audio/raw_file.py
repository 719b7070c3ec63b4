"""A file of raw samples, whose format the request states."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from earshot.service.audio.pcm import PcmDecoder, PcmFormat, one_of
from earshot.service.audio.resampler import Resampler
from earshot.service.errors import AudioTooLong, UndecodableAudio
from earshot.streaming.samples import Samples

_NOTHING: Samples = np.empty(0, dtype=np.float32)


class RawFile:
    """Raw PCM on disk, for a model that listens at ``model_rate_hz``.

    max_s: of audio; of all channels together where each is heard ``apart``.

    Raises:
        UndecodableAudio: there is not one whole sample.
        AudioTooLong: there are more than ``max_s`` seconds.
    """

    def __init__(
        self,
        path: Path,
        pcm: PcmFormat,
        model_rate_hz: int,
        max_s: float = float("inf"),
        *,
        apart: bool = False,
    ) -> None:
        self._path = path
        self._pcm = pcm
        self._model_rate_hz = model_rate_hz
        self.channels = pcm.channels
        samples = path.stat().st_size // pcm.frame_bytes
        if samples == 0:
            raise UndecodableAudio("the audio is empty: it has not one whole sample")
        self.duration_s = samples / pcm.sample_rate_hz
        if apart:
            max_s /= self.channels
        if self.duration_s > max_s:
            raise AudioTooLong(f"the audio is {self.duration_s:.0f} s, {max_s:.0f} s are allowed")

    def blocks(self, channel: int | None = None) -> Iterator[Samples]:
        """Yield mono float32 samples at the model's rate, a second at a time; None mixes.

        Raises:
            UndecodableAudio: a float sample is NaN, infinite or far out of range.
        """
        decoder = PcmDecoder(self._pcm)
        resampler = Resampler(self._pcm.sample_rate_hz, self._model_rate_hz)
        with self._path.open("rb") as file:
            while data := file.read(self._pcm.frame_bytes * self._pcm.sample_rate_hz):
                yield resampler.resample(one_of(decoder.decode_apart(data), channel))
        yield resampler.resample(_NOTHING, last=True)
