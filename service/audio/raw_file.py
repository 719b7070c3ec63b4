"""A file of raw samples, whose format the request states."""

from collections.abc import Iterator
from pathlib import Path

from service.audio.pcm import PcmDecoder, PcmFormat, Samples
from service.audio.resampler import Resampler
from service.errors import AudioTooLong, UndecodableAudio


class RawFile:
    """Raw PCM on disk."""

    def __init__(self, path: Path, pcm: PcmFormat, max_s: float = float("inf")) -> None:
        self._path = path
        self._pcm = pcm
        self.duration_s = path.stat().st_size / pcm.frame_bytes / pcm.sample_rate_hz
        if self.duration_s == 0:
            raise UndecodableAudio("the audio is empty")
        if self.duration_s > max_s:
            raise AudioTooLong(f"the audio is {self.duration_s:.0f} s, {max_s:.0f} s are allowed")

    def blocks(self) -> Iterator[Samples]:
        """Yield mono float32 samples at 16 kHz, a second at a time.

        Raises:
            UndecodableAudio: a float sample is NaN, infinite or far out of range.
        """
        decoder, resampler = PcmDecoder(self._pcm), Resampler(self._pcm.sample_rate_hz)
        with self._path.open("rb") as file:
            while data := file.read(self._pcm.frame_bytes * self._pcm.sample_rate_hz):
                yield resampler.resample(decoder.decode(data))
        yield resampler.resample(decoder.decode(b""), last=True)
