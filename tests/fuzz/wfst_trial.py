"""WFST search under `SearchTrial`."""

import math
from random import Random
from typing import Any

import fuzz_device
import hostile_inputs
import numpy as np
import torch
from search_trial import Outcome, SearchTrial

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_confidence import WordConfidences
from earshot.decoder_kernels.wfst.wfst_search import WfstHypothesis, WfstSearch, WfstSearchConfig

MANY = 10
MOST_CONTENDERS = 5


def random_config(dice: Random) -> WfstSearchConfig:
    """Half of them too small for what is to come.

    With several threads per block there is room enough: what finds none may then depend on them.
    """
    block_threads = fuzz_device.block_threads(dice)
    contenders = min(block_threads, MOST_CONTENDERS)  # for one key
    roomy, boosts = block_threads > 1 or dice.random() < 0.5, dice.choice((0, 10, 100, 20_000))
    max_tokens = 1000 if roomy else dice.choice((1, 2, 5, 30))
    return WfstSearchConfig(
        max_tokens=max_tokens,
        backpointer_capacity=4096 * contenders**2 if roomy else dice.choice((1, 2, 10, 100)),
        entry_capacity=4096 if roomy else max_tokens + dice.choice((0, 1, 10, 100)),
        candidate_capacity=16384 if roomy else max_tokens + dice.choice((0, 1, 10, 100)),
        boost_capacity=boosts,
        oov_capacity=boosts,
        workers=dice.choice((1,) * 9 + (3,)),
        block_threads=block_threads,
    )


class WfstTrial(SearchTrial[WfstSearch]):
    """Slots of a WFST search. Raises InvalidGraph where no search can be made of the graph."""

    def __init__(self, dice: Random, graph: Graph) -> None:
        self.graph = graph
        self.config = random_config(dice)
        super().__init__(
            dice,
            graph.vocab_size,
            lambda slots: WfstSearch(graph, self.config, slots, fuzz_device.device()),
        )
        self.operations["options"] = (2, self._options)
        self.operations["lattice"] = (0.2, self._lattice)  # the slowest by far
        self.beams = dict.fromkeys(self.hostile, WfstOptions().beam)
        calm = WfstOptions(beam=8.0, max_active=self.config.max_tokens, lattice_beam=4.0)
        for search, slot in ((self.search, self.control), (self.lone, 0)):
            search.set_options(slot, calm)
            self._boost_gently(search, slot)

    def snapshot(self, search: WfstSearch, slot: int) -> Any:
        """The best."""
        return search.best(torch.tensor([slot]))[0]

    def full_snapshot(self, search: WfstSearch, slot: int) -> Any:
        """The list of results, and how many tokens there are."""
        count = search.num_tokens(torch.tensor([slot]))
        return search.nbest([slot], MANY), search.nbest([slot], MANY, finalize=[False]), count

    def boost(self, slot: int) -> None:
        """Phrases of words, some of which the graph does not have."""
        table = hostile_inputs.word_table(self.dice, self.graph, self.beams[slot])
        self.search.set_boost(slot, table)

    def list_one(self, slot: int) -> None:
        """As long as it gets."""
        self.search.nbest([slot], 1)

    def check_results(self, slot: int) -> None:
        """Words exist, times ascend, costs are numbers and in order."""
        finalize = self.dice.random() < 0.5
        [result] = self.search.best(torch.tensor([slot]), finalize=finalize)
        assert 0 <= result.stable_length <= len(result.hypothesis.words)
        many = self.dice.choice((-1, 0, 1, 3, 50))
        found = self.search.nbest([slot], many, finalize=[finalize])[0] or []
        for each in (result.hypothesis, *found):
            self._check(each, self.frames[slot])
        assert [each.cost for each in found] == sorted(each.cost for each in found)
        assert len({each.words for each in found}) == len(found)
        assert found == [] or found[0].cost == result.hypothesis.cost

    @staticmethod
    def _check(hypothesis: WfstHypothesis, frames: int) -> None:
        assert all(word > 0 for word in hypothesis.words)
        assert len(hypothesis.words) == len(hypothesis.frames)
        assert list(hypothesis.frames) == sorted(hypothesis.frames)
        assert all(0 <= frame < frames for frame in hypothesis.frames)
        assert math.isfinite(hypothesis.cost)
        assert math.isfinite(hypothesis.boost)

    def _lattice(self) -> Outcome:
        """Its cheapest path is the best result; confidences of that are probabilities."""
        slot, finalize = self.dice.choice(self.hostile), self.dice.random() < 0.5
        [lattice] = self.search.lattices([slot], finalize=[finalize])
        if lattice is None:
            return Outcome("no lattice")
        [result] = self.search.best(torch.tensor([slot]), finalize=finalize)
        best = result.hypothesis
        cheapest = np.full(lattice.num_nodes, math.inf)
        cheapest[0] = 0.0
        for source, target, cost in zip(
            lattice.sources, lattice.targets, lattice.costs, strict=True
        ):
            assert source < target
            cheapest[target] = min(cheapest[target], cheapest[source] + cost)
        assert math.isclose(cheapest[-1], best.cost, rel_tol=1e-9, abs_tol=1e-6)
        scale = self.dice.choice((1e-45, 0.1, 1.0, 1e30))
        sure = WordConfidences.of_lattice(lattice, scale)
        assert all(0.0 <= each <= 1.0 for each in sure.of(best.words, best.frames))
        return Outcome("lattice")

    def _options(self) -> Outcome:
        slot = self.dice.choice(self.hostile)
        options = hostile_inputs.options(self.dice, self.config.max_tokens)
        self.search.set_options(slot, options)
        self.beams[slot] = options.beam
        return Outcome("options")

    def _boost_gently(self, search: WfstSearch, slot: int) -> None:
        """A phrase of two words for the control, where there is room for it."""
        words = tuple(range(1, min(3, len(self.graph.word_texts))))
        phrases = [WordPhrase(words, 1.5)] if words else []
        table = WordBoostTable.compile(phrases, self.graph)
        if self.config.boost_capacity >= table.automaton.num_states:
            search.set_boost(slot, table)
