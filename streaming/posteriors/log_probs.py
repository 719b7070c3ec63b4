"""Log-probabilities as programs have them: read, and refused where they are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.dlpack import from_dlpack

from earshot.streaming.errors import InvalidLogProbs

Array: TypeAlias = Tensor | NDArray[Any] | Any
"""A tensor of torch, an array of NumPy, or anything else with `__dlpack__`."""

MOST_LOG_TOTAL = 0.1
"""The logarithm of what a frame may sum to: bfloat16 rounds a hundredth away."""
LEAST_LOG_TOTAL = -0.7
"""Half: a frame may lack tokens that were masked, not most of what was said."""


@dataclass(frozen=True, eq=False)
class LogProbs:
    """Natural logarithms `(B, T, V)` float32, and how many frames of each are real."""

    rows: Tensor
    lengths: tuple[int, ...]

    def frames(self, place: int) -> Tensor:
        """The real frames `(T, V)` of one."""
        return self.rows[place, : self.lengths[place]]


def read_batch(
    given: Array, lengths: Array | Sequence[int] | None, vocab_size: int, max_frames: int
) -> LogProbs:
    """A batch `(B, T, V)`; lengths `(B,)`, all T if absent.

    Raises InvalidLogProbs for another shape or type, values that are no log-probabilities, and
    files of more than `max_frames`.
    """
    rows = _tensor(given)
    if rows.ndim != 3:
        raise InvalidLogProbs(
            f"log-probabilities of a batch are (B, T, V), not {_shape(rows)}: one file is [None]"
        )
    _require_width(rows, vocab_size)
    batch = LogProbs(rows, _lengths(lengths, rows))
    longest = max(batch.lengths, default=0)
    if longest > max_frames:
        raise InvalidLogProbs(
            f"{longest} frames in a file, this decoder takes {max_frames}: cut it in a pause, or "
            "give the decoder a larger max_frames"
        )
    _check(batch)
    return batch


def read_frames(given: Array, vocab_size: int) -> LogProbs:
    """Some frames `(T, V)` of a stream, as a batch of one. Raises InvalidLogProbs."""
    rows = _tensor(given)
    if rows.ndim != 2:
        raise InvalidLogProbs(f"log-probabilities of a stream are (T, V), not {_shape(rows)}")
    _require_width(rows, vocab_size)
    frames = LogProbs(rows[None], (len(rows),))
    _check(frames)
    return frames


def _tensor(given: Array) -> Tensor:
    if isinstance(given, np.ndarray):
        return _of_numpy(given)
    if isinstance(given, Tensor):
        tensor = given.detach()
    elif hasattr(given, "__dlpack__"):
        try:
            tensor = from_dlpack(given)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise InvalidLogProbs(f"DLPack does not give the array: {error}") from error
    else:
        raise InvalidLogProbs(f"a {type(given).__name__} is no array of torch, NumPy or DLPack")
    if not tensor.is_floating_point():
        raise InvalidLogProbs(f"log-probabilities are floats, not {tensor.dtype}")
    return tensor.to(torch.float32)


def _of_numpy(given: NDArray[Any]) -> Tensor:
    if not np.issubdtype(given.dtype, np.floating):
        raise InvalidLogProbs(f"log-probabilities are floats, not {given.dtype}")
    rows = np.ascontiguousarray(given, np.float32).reshape(given.shape)
    return torch.from_numpy(rows if rows.flags.writeable else rows.copy())


def _shape(rows: Tensor) -> str:
    return str(tuple(rows.shape))


def _require_width(rows: Tensor, vocab_size: int) -> None:
    if rows.shape[-1] != vocab_size:
        raise InvalidLogProbs(
            f"{rows.shape[-1]} log-probabilities in a frame; the graph is of {vocab_size} tokens"
        )


def _lengths(given: Array | Sequence[int] | None, rows: Tensor) -> tuple[int, ...]:
    files, frames = rows.shape[:2]
    if given is None:
        return (frames,) * files
    if hasattr(given, "tolist"):
        given = given.tolist()
    found = list(given) if isinstance(given, Sequence) else []
    # A bool is an int to Python; a mask in place of lengths is not meant.
    whole = all(isinstance(each, int | np.integer) and type(each) is not bool for each in found)
    if not whole or len(found) != files or not all(0 <= each <= frames for each in found):
        raise InvalidLogProbs(f"lengths are {files} whole numbers from 0 to {frames}, not {given}")
    return tuple(map(int, found))


def _check(batch: LogProbs) -> None:
    """Raises InvalidLogProbs, naming the first frame that holds no log-probabilities."""
    totals = torch.logsumexp(batch.rows, dim=-1)
    fine = (totals <= MOST_LOG_TOTAL) & (totals >= LEAST_LOG_TOTAL)  # NaN is neither
    real = torch.tensor(batch.lengths, device=totals.device)[:, None]
    wrong = ~fine & (torch.arange(totals.shape[1], device=totals.device) < real)
    if not wrong.any():
        return
    file, frame = wrong.nonzero()[0].tolist()
    raise InvalidLogProbs(_fault(batch.rows[file, frame], float(totals[file, frame]), file, frame))


def _fault(values: Tensor, total: float, file: int, frame: int) -> str:
    place = f"file {file}, frame {frame}"
    if torch.isnan(values).any():
        return f"{place}: NaN"
    if float(values.max()) > 0.0 and total > MOST_LOG_TOTAL:
        return (
            f"{place}: {float(values.max()):.4g} is above 0 and no log-probability: take "
            "log_softmax of logits, or the logarithm of probabilities"
        )
    return (
        f"{place}: the probabilities sum to {np.exp(total):.3g}, not 1: take log_softmax of logits"
    )
