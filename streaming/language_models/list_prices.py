"""Prices of what a graph search has found, by the models that a stream names.

Of each text

    cost += lm_weight * (L(text) - S(text))

where S is the n-gram that the graph was built of, whose costs the search has paid, and L the models
that were named (biglm decoding; Fukunaga 2019, section 3, of lists and lattices). To a graph
without S a part of L is added (shallow fusion, Gulcehre 2015).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.lm.lm_image import SENTENCE_START
from earshot.decoder_kernels.lm.lm_texts import MixedLm, WordClass, WordOrClass, WordTexts
from earshot.decoder_kernels.wfst.priced_lattice import LmTerm, PricedPath, priced_paths
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice

RANKED = 100
"""Hypotheses of a final that models are asked about: that of fewest errors is seldom further."""

Brought: TypeAlias = Sequence[ClassMember | None]
"""Words above the graph's own: None for one that is no member of a class."""

ADDED = 0.3
"""Part of the named models' costs that is added where the graph does not hold its own model, whose
costs stay."""


class ListPrices:
    """Prices of texts in the words of one graph.

    Ids above its own are words that a request brought along: members of a class are that class to
    the models (`ClassMember`), others are words that nobody knows.
    """

    def __init__(self, graph: Graph) -> None:
        self._texts = graph.word_texts
        self._unknown_cost = graph.unknown_cost
        self._small = None if graph.small_lm is None else MixedLm((graph.small_lm,), (1.0,))

    def of(
        self,
        mix: MixedLm,
        texts: Sequence[Sequence[int]],
        before: Sequence[WordOrClass] = (),
        brought: Brought = (),
        *,
        ended: bool,
    ) -> list[float]:
        """The nats that are added to each text's cost, `lm_weight` apart.

        before: words of the same utterance that were told with its last segments, which L goes on
        behind; a sentence begins where there are none. brought: what the ids above the graph's are.
        ended: whether a sentence ends here.
        """
        order = sorted(range(len(texts)), key=lambda text: tuple(texts[text]))  # alike together
        listed = self._listed([texts[text] for text in order], brought)
        if ended:
            listed = listed.closed()
        costs = mix.costs(listed, before or (SENTENCE_START,))
        if self._small is None:
            costs = ADDED * costs
        else:
            costs = costs - self._small.costs(replace(listed, added=()))
        prices = np.empty(len(texts))
        prices[order] = costs
        found: list[float] = prices.tolist()
        return found

    def paths(
        self,
        mix: MixedLm,
        lattice: WordLattice,
        lm_weight: float,
        before: Sequence[WordOrClass] = (),
        brought: Brought = (),
        *,
        beginning: Sequence[int] = (),
        ended: bool,
    ) -> list[PricedPath] | None:
        """The `RANKED` cheapest paths of a lattice by cost and price; None where it is too large.

        beginning: words that they keep. before, brought, ended: as those of `of`.
        """
        words = {word: self._word(word, brought) for word in np.unique(lattice.words).tolist()}
        beside = {word: self._added(self._member(word, brought)) for word in words}
        added = ADDED if self._small is None else 1.0
        terms = [LmTerm(mix, lm_weight * added, before or (SENTENCE_START,), beside)]
        if self._small is not None:
            terms.append(LmTerm(self._small, -lm_weight))
        return priced_paths(lattice, words, terms, RANKED, ended=ended, beginning=beginning)

    def _listed(self, texts: Sequence[Sequence[int]], brought: Brought) -> WordTexts:
        ids = np.array([word for text in texts for word in text], np.int64)
        distinct, places = np.unique(ids, return_inverse=True)
        words = [self._word(word, brought) for word in distinct.tolist()]
        added = [self._added(self._member(word, brought)) for word in distinct.tolist()]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return WordTexts(words, places, ends, added)

    def _member(self, word: int, brought: Brought) -> ClassMember | None:
        behind = word - len(self._texts)
        return brought[behind] if 0 <= behind < len(brought) else None

    def _word(self, word: int, brought: Brought) -> WordOrClass:
        if word < len(self._texts):
            return self._texts[word]
        member = self._member(word, brought)
        return None if member is None else WordClass(member.word_class)

    def _added(self, member: ClassMember | None) -> float:
        """The cost beside that of its class: without S there is nothing to take back."""
        if member is None:
            return 0.0
        return member.share_cost if self._small is None else member.added(self._unknown_cost)
