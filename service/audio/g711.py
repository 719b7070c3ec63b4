"""Telephony's logarithmic samples of eight bits (ITU-T G.711), by table."""

import numpy as np
import numpy.typing as npt

_CODES = np.arange(256, dtype=np.int32)
_MU_BIAS = 0x84
_FULL_SCALE = 32768.0


def _parts(codes: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Exponent and mantissa of each code."""
    return (codes >> 4) & 7, codes & 15


def _mu_law() -> npt.NDArray[np.float32]:
    codes = ~_CODES & 0xFF  # on the line all bits are inverted
    exponent, mantissa = _parts(codes)
    magnitude = (((mantissa << 3) + _MU_BIAS) << exponent) - _MU_BIAS
    signed = np.where(codes & 0x80, -magnitude, magnitude)
    return (signed / _FULL_SCALE).astype(np.float32)


def _a_law() -> npt.NDArray[np.float32]:
    codes = _CODES ^ 0x55  # on the line every other bit is inverted
    exponent, mantissa = _parts(codes)
    step = (mantissa << 4) + 8
    magnitude = np.where(exponent == 0, step, (step + 0x100) << np.maximum(exponent - 1, 0))
    signed = np.where(codes & 0x80, magnitude, -magnitude)
    return (signed / _FULL_SCALE).astype(np.float32)


MU_LAW = _mu_law()
A_LAW = _a_law()
"""Sample ``(256,)`` float32 in -1 to 1 of each code."""
