"""Raw PCM from a socket: bytes cut anywhere in, whole mono samples out."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from earshot.service.audio.g711 import A_LAW, MU_LAW
from earshot.service.errors import UndecodableAudio
from earshot.streaming.samples import Samples

Encoding = Literal["linear16", "linear32", "mulaw", "alaw"]

MAX_OVERSHOOT = 16.0
"""Float audio mixed too hot is still audio, and clipped; int16 values as floats are a mistake."""

ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
BYTES_PER_SAMPLE: dict[Encoding, int] = {"linear16": 2, "linear32": 4, "mulaw": 1, "alaw": 1}


@dataclass(frozen=True)
class PcmFormat:
    """How raw samples lie in the bytes; several channels are interleaved."""

    encoding: Encoding
    sample_rate_hz: int
    channels: int = 1

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of every channel."""
        return BYTES_PER_SAMPLE[self.encoding] * self.channels


def limited(samples: Samples, source: str) -> Samples:
    """Return ``samples`` clipped to [-1, 1], if they can be sound in that range at all.

    Raises:
        UndecodableAudio: a sample is NaN, infinite or far out of range; ``source`` is named.
    """
    if not np.isfinite(samples).all():
        raise UndecodableAudio(f"{source} holds NaN or infinite samples")
    if samples.size and np.abs(samples).max() > MAX_OVERSHOOT:
        raise UndecodableAudio(f"{source} holds samples far outside [-1, 1]")
    clipped: Samples = np.clip(samples, -1.0, 1.0)
    return clipped


def mixed(samples: Samples) -> Samples:
    """Return the mean of the channels, ``(N, channels)`` to ``(N,)``."""
    return samples[:, 0] if samples.shape[1] == 1 else samples.mean(axis=1, dtype=np.float32)


def one_of(samples: Samples, channel: int | None) -> Samples:
    """Return one channel of ``(N, channels)``, or the mean of all, shape ``(N,)``."""
    return mixed(samples) if channel is None else np.ascontiguousarray(samples[:, channel])


class PcmDecoder:
    """Decodes a byte stream to float32 in [-1, 1]; a frame cut in two waits for its rest."""

    def __init__(self, pcm: PcmFormat) -> None:
        self._pcm = pcm
        self._rest = b""

    def decode(self, data: bytes) -> Samples:
        """Return the samples completed by ``data``, mixed to one channel, shape ``(N,)``.

        Raises:
            UndecodableAudio: a float sample is NaN, infinite or far outside [-1, 1].
        """
        return mixed(self.decode_apart(data))

    def decode_apart(self, data: bytes) -> Samples:
        """Decode like `decode`, with the channels side by side: shape ``(N, channels)``."""
        data = self._rest + data
        whole = len(data) - len(data) % self._pcm.frame_bytes
        self._rest = data[whole:]
        return self._to_float(data[:whole]).reshape(-1, self._pcm.channels)

    def _to_float(self, data: bytes) -> Samples:
        match self._pcm.encoding:
            case "linear16":
                return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32768.0)
            case "linear32":
                # A NaN would spread through the resampler's filter into good audio: stop it here.
                return limited(np.frombuffer(data, "<f4").astype(np.float32), "linear32 audio")
            case "mulaw":
                return MU_LAW[np.frombuffer(data, np.uint8)]
            case "alaw":
                return A_LAW[np.frombuffer(data, np.uint8)]
