"""Blocks of samples as programs have them, made into what an engine takes."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
        UndecodableAudio: the rate is not one of audio, or there are no blocks to iterate over.
    """

    def __init__(self, blocks: Iterable[Block], rate_hz: int, model_rate_hz: int) -> None:
        if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
            raise UndecodableAudio(
                f"a sample rate of {rate_hz} Hz is not one of {MIN_RATE_HZ} to {MAX_RATE_HZ}"
            )
        if not isinstance(blocks, Iterable):
            raise UndecodableAudio(
                f"blocks are an iterable of samples, and {type(blocks).__name__} is none"
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
        if _is_bytes(block):
            return self._decoder.decode(bytes(block))
        samples = samples_of(block)
        if samples.dtype == np.int16:
            return samples.astype(np.float32) / np.float32(32768.0)
        return limited(samples.astype(np.float32), "a block")


def samples_of(block: object) -> NDArray[Any]:
    """Return a block as `(N,)` of floats or int16. Raises UndecodableAudio where it is neither."""
    try:
        samples = np.asarray(block)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged lists; tensors on a GPU
        raise UndecodableAudio(f"{_named(block)} is no array of samples: {error}") from error
    if samples.ndim == 0:
        raise UndecodableAudio(
            f"{_named(block)} is not samples: blocks are an iterable of mono arrays (N,), "
            "a single array is [samples]"
        )
    if samples.ndim != 1:
        raise UndecodableAudio(f"samples have the shape {samples.shape}: they are mono arrays (N,)")
    if samples.dtype != np.int16 and not np.issubdtype(samples.dtype, np.floating):
        raise UndecodableAudio(f"samples are {samples.dtype}: they are floats in [-1, 1], or int16")
    return samples


def _is_bytes(block: Block) -> TypeGuard[bytes]:
    """A view of an array is samples, by its own format."""
    if isinstance(block, memoryview):
        return block.format in ("B", "b", "c")
    return isinstance(block, bytes | bytearray)


def _named(block: object) -> str:
    return f"a block of type {type(block).__name__}"
