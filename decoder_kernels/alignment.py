"""CTC forced alignment: at which frame each token of a given hypothesis was most likely emitted.

What has no times of its own, such as the attention decoder's hypotheses, gets them here. The same
in plain Python: ``tests/decoder_kernels/alignment_oracle.py``.
"""

import itertools
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from earshot.decoder_kernels.native import kernels


def align(log_probs: Tensor, tokens: Sequence[int], blank_id: int) -> list[int]:
    """Emission frame of each token on the best path through ``log_probs`` (T, V) (Viterbi).

    A token that spans several frames is placed where it is most likely. Tokens that no CTC path can
    hold (more of them than frames, or impossible ones) are spread evenly: the hypothesis stands,
    only its times are a guess. Raises BackendMissing without the native half.
    """
    if not tokens:
        return []
    repeats = sum(left == right for left, right in itertools.pairwise(tokens))
    num_frames = len(log_probs)
    if len(tokens) + repeats > num_frames:
        return _spread(len(tokens), num_frames)
    labels = np.full(2 * len(tokens) + 1, blank_id)
    labels[1::2] = tokens
    skippable = np.zeros(len(labels), np.uint8)
    skippable[3::2] = labels[3::2] != labels[1:-2:2]
    emissions = np.ascontiguousarray(log_probs.cpu().numpy()[:, labels])
    peaks = np.empty(len(tokens), np.int64)
    kernels.find_peaks(emissions, skippable, peaks)
    found: list[int] = peaks.tolist()
    return _spread(len(tokens), num_frames) if min(found) < 0 else found


def _spread(tokens: int, frames: int) -> list[int]:
    return [index * frames // tokens for index in range(tokens)]
