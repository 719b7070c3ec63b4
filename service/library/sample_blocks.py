"""Blocks of samples as programs have them, made into what an engine takes."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from earshot.service.audio.pcm import PcmDecoder, PcmFormat, limited
from earshot.service.audio.resampler import MAX_RATE_HZ, MIN_RATE_HZ, Resampler
from earshot.service.errors import UndecodableAudio
from earshot.streaming.requests import Push, pushes
from earshot.streaming.samples import Samples

Block: TypeAlias = ArrayLike | bytes
"""Mono: floats in [-1, 1] or int16, `(N,)`, or the bytes of 16-bit little-endian samples."""


class SampleBlocks:
    """Audio that comes block by block, of any length each, at ``rate_hz``; to be read once.

    Raises:
        UndecodableAudio: the rate is not one of audio.
    """

    def __init__(self, blocks: Iterable[Block], rate_hz: int, model_rate_hz: int) -> None:
        if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
            raise UndecodableAudio(
                f"a sample rate of {rate_hz} Hz is not one of {MIN_RATE_HZ} to {MAX_RATE_HZ}"
            )
        self._blocks = blocks
        self._resampler = Resampler(rate_hz, model_rate_hz)
        self._decoder = PcmDecoder(PcmFormat("linear16", rate_hz))

    def pushes(self) -> Iterator[Push]:
        """Yield float32 samples `(N,)` at the model's rate, ready to be asked for.

        Raises:
            UndecodableAudio: a block is not mono audio; the message says what it is.
        """
        for block in self._blocks:
            yield from pushes(self._resampler.resample(self._floats(block)))
        yield from pushes(self._resampler.resample(np.empty(0, np.float32), last=True))

    def _floats(self, block: Block) -> Samples:
        if isinstance(block, bytes | bytearray | memoryview):
            return self._decoder.decode(bytes(block))
        samples = np.asarray(block)
        if samples.ndim != 1:
            raise UndecodableAudio(
                f"a block of samples has the shape {samples.shape}: blocks are an iterable of mono "
                "arrays (N,), a single array is [samples]"
            )
        if samples.dtype == np.int16:
            return samples.astype(np.float32) / np.float32(32768.0)
        if not np.issubdtype(samples.dtype, np.floating):
            raise UndecodableAudio(
                f"a block holds samples of {samples.dtype}: they are floats in [-1, 1], or int16"
            )
        return limited(samples.astype(np.float32), "a block")
