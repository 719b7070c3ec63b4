"""How sure a lattice is of each word of a hypothesis; ``csrc/results`` computes it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import InvalidConfig
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice


def arc_posteriors(lattice: WordLattice, posterior_scale: float) -> npt.NDArray[np.float64]:
    """The share ``(A,)`` of all paths that goes through each arc, a path weighing exp(-scale cost).

    By the forward-backward algorithm in the log semiring. Raises InvalidConfig for a scale that is
    not positive and finite.
    """
    check_confidence(posterior_scale)
    return kernels.arc_posteriors(
        frames=lattice.frames,
        sources=lattice.sources,
        targets=lattice.targets,
        costs=lattice.costs,
        scale=posterior_scale,
    )


class WordConfidences:
    """How sure one lattice is of the words of any hypothesis."""

    def __init__(self, native: kernels.WordConfidences) -> None:
        self._native = native

    @classmethod
    def of_lattice(
        cls, lattice: WordLattice, posterior_scale: float, coverage: float = 1.0
    ) -> "WordConfidences":
        """Confidences of a lattice's words, as `WfstSearch.confidences` computes them."""
        check_confidence(posterior_scale, coverage)
        return cls(
            kernels.WordConfidences(
                frames=lattice.frames,
                sources=lattice.sources,
                targets=lattice.targets,
                words=lattice.words,
                costs=lattice.costs,
                scale=posterior_scale,
                coverage=coverage,
            )
        )

    def of(self, words: Sequence[int], frames: Sequence[int]) -> list[float]:
        """Confidence in 0..1 of each word of a hypothesis that has these words at these frames.

        A word lasts from the frame in which it left the graph until the next one does, a frame at
        least. The hypothesis need not be a path: a word that no path has there gets 0.
        """
        return self._native.of(words, frames)


def check_confidence(posterior_scale: float, coverage: float = 1.0) -> None:
    """Raises InvalidConfig for values out of their ranges."""
    if not 0.0 < posterior_scale < float("inf"):
        raise InvalidConfig("posterior_scale must be positive and finite")
    if not 0.0 < coverage <= 1.0:
        raise InvalidConfig("coverage must lie in (0, 1]")
