"""Word lattices priced by language models: the cheapest of all their paths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from earshot.decoder_kernels.lm.lm_image import SENTENCE_END, SENTENCE_START
from earshot.decoder_kernels.lm.lm_texts import MixedLm, WordOrClass
from earshot.decoder_kernels.native import kernels
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice

MOST_LOOKUPS = 1 << 14
"""More would take ten milliseconds."""


@dataclass(frozen=True, eq=False)
class LmTerm:
    """A mix of models, and how much what it says counts.

    factor: below 0 where it is to be taken back. before: words before those of the lattice. added:
    what words cost beside, by their ids, in nats; nothing where absent.
    """

    mix: MixedLm
    factor: float
    before: Sequence[WordOrClass] = (SENTENCE_START,)
    added: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PricedPath:
    """A path through a lattice. cost: its own, in nats; price: what the models add to that."""

    words: tuple[int, ...]
    frames: tuple[int, ...]
    cost: float
    price: float


def priced_paths(
    lattice: WordLattice,
    texts: Mapping[int, WordOrClass],
    terms: Sequence[LmTerm],
    count: int,
    *,
    ended: bool,
    beginning: Sequence[int] = (),
    max_lookups: int = MOST_LOOKUPS,
) -> list[PricedPath] | None:
    """Up to `count` paths, by cost and price; None where it takes more than `max_lookups` to know.

    texts: of words by their ids; no model knows a word that is absent. ended: whether a sentence
    ends with the lattice. beginning: words that all paths begin with; where no sentence ends, some
    may end within them.
    """
    ids, places = np.unique(lattice.words, return_inverse=True)
    words = [texts.get(word) if word > 0 else None for word in ids.tolist()]
    places = np.append(places, len(words))  # the end of the sentence
    found = kernels.price_lattice(
        frames=lattice.frames,
        sources=lattice.sources,
        targets=lattice.targets,
        words=lattice.words,
        costs=lattice.costs,
        terms=[
            (
                term.mix.asked(
                    [*words, SENTENCE_END],
                    places,
                    term.before,
                    [term.added.get(word, 0.0) for word in ids.tolist()],
                ),
                term.factor,
            )
            for term in terms
        ],
        beginning=list(beginning),
        count=count,
        ended=ended,
        max_lookups=max_lookups,
    )
    return None if found is None else [PricedPath(*each) for each in found]
