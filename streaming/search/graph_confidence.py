"""How sure a graph search is of the words of a segment that ends."""

from collections.abc import Callable, Sequence
from functools import cached_property

from earshot.decoder_kernels.wfst.wfst_confidence import WordConfidences
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.streaming.graph_config import GraphSearchConfig


class SegmentLattice:
    """A slot's alternatives, drawn when they are first asked about: before the slot is reset.

    ended: whether an utterance ends here, not only words. `give_up` is called where a lattice would
    take too long.
    """

    def __init__(
        self,
        search: WfstSearch,
        slot: int,
        config: GraphSearchConfig,
        give_up: Callable[[], None],
        *,
        ended: bool,
    ) -> None:
        self._search = search
        self._slot = slot
        self._config = config
        self._give_up = give_up
        self._ended = ended
        self._was_drawn = False

    def confidences(self, found: WfstHypothesis) -> Sequence[float] | None:
        """Confidences of a hypothesis's words, whichever pass chose it; None without a lattice."""
        if not found.words:
            return []
        if self._sure is None:
            return None
        return self._sure.of(found.words, found.frames)

    @cached_property
    def drawn(self) -> WordLattice | None:
        """The lattice itself; None where it would take too long. Confidences are of it then."""
        self._was_drawn = True
        [drawn] = self._search.lattices([self._slot], finalize=[self._ended])
        return drawn

    @cached_property
    def _sure(self) -> WordConfidences | None:
        sure = self._of_drawn() if self._was_drawn else self._of_search()
        if sure is None:
            self._give_up()
        return sure

    def _of_drawn(self) -> WordConfidences | None:
        scale, coverage = self._config.posterior_scale, self._config.coverage
        drawn = self.drawn
        return None if drawn is None else WordConfidences.of_lattice(drawn, scale, coverage)

    def _of_search(self) -> WordConfidences | None:
        scale, coverage = self._config.posterior_scale, self._config.coverage
        [sure] = self._search.confidences([self._slot], scale, coverage, finalize=[self._ended])
        return sure
