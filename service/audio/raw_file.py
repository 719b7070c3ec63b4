"""A file of raw samples, whose format the request states."""

from collections.abc import Iterator
from pathlib import Path

from service.audio.pcm import PcmDecoder, PcmFormat, Samples
from service.audio.resampler import Resampler
from service.errors import AudioTooLong, UndecodableAudio


class RawFile:
    """Raw PCM on disk, for a model that listens at ``model_rate_hz``."""

    def __init__(
        self, path: Path, pcm: PcmFormat, model_rate_hz: int, max_s: float = float("inf")
    ) -> None:
        self._path = path
        self._pcm = pcm
        self._resampler = Resampler(pcm.sample_rate_hz, model_rate_hz)
        self.duration_s = path.stat().st_size / pcm.frame_bytes / pcm.sample_rate_hz
        if self.duration_s == 0:
            raise UndecodableAudio("the audio is empty")
        if self.duration_s > max_s:
            raise AudioTooLong(f"the audio is {self.duration_s:.0f} s, {max_s:.0f} s are allowed")

    def blocks(self) -> Iterator[Samples]:
        """Yield mono float32 samples at the model's rate, a second at a time.

        Raises:
            UndecodableAudio: a float sample is NaN, infinite or far out of range.
        """
        decoder = PcmDecoder(self._pcm)
        with self._path.open("rb") as file:
            while data := file.read(self._pcm.frame_bytes * self._pcm.sample_rate_hz):
                yield self._resampler.resample(decoder.decode(data))
        yield self._resampler.resample(decoder.decode(b""), last=True)
