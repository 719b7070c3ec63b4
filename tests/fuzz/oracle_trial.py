"""One stream of hostile options, boosts and frames on a small graph, compared with the oracle."""

import math
from random import Random

import fuzz_device
import hostile_inputs
import numpy as np
import torch
from wfst_oracle import WfstOracle

from earshot.decoder_kernels.graph.wfst_options import nats
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

MOST_NODES, MOST_CHUNKS, MOST_FRAMES = 3, 2, 2  # the oracle looks at every path
LISTED = 300
ROOMY = WfstSearchConfig(
    max_tokens=1000, backpointer_capacity=40960, entry_capacity=4096, candidate_capacity=16384
)


class OracleTrial:
    """A graph, what a client may ask of it, and both searches.

    Raises GraphError or KernelError for what cannot be searched.
    """

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        graph = hostile_inputs.graph(dice, most_nodes=MOST_NODES)
        options = hostile_inputs.options(dice, ROOMY.max_tokens)
        table = hostile_inputs.word_table(dice, graph, options.beam)
        self._vocab_size = graph.vocab_size
        self._search = WfstSearch(graph, ROOMY, 1, fuzz_device.device())
        self._search.set_options(0, options)
        self._search.set_boost(0, table)
        self._oracle = WfstOracle(graph, options, table)

    def run(self) -> None:
        """Some chunks. Raises AssertionError where the searches differ, KernelError for frames."""
        for _ in range(self._dice.randint(1, MOST_CHUNKS)):
            rows = self._frames()
            lengths = torch.tensor([len(rows)])
            self._search.advance(
                torch.tensor([0]), torch.from_numpy(rows)[None].to(fuzz_device.device()), lengths
            )
            self._oracle.advance(rows.tolist())
            for finalize in (False, True):
                self._compare(finalize)

    def _frames(self) -> hostile_inputs.Rows:
        arrays = np.random.default_rng(self._dice.getrandbits(64))
        shape = (self._dice.randint(1, MOST_FRAMES), self._vocab_size)
        rows = hostile_inputs.well_formed(arrays, *shape)
        if self._dice.random() < 0.4:
            spoiled = arrays.random(shape) < 0.5
            values = (*hostile_inputs.FINITE, -math.inf)
            rows[spoiled] = arrays.choice(values, int(spoiled.sum()))
        return rows

    def _compare(self, finalize: bool) -> None:
        [result] = self._search.best(torch.tensor([0]), finalize=finalize)
        token, cost = self._oracle.best(finalize)
        found = result.hypothesis
        assert list(zip(found.words, found.frames, strict=True)) == list(token.best)
        assert found.cost == nats(cost), "the best costs something else"
        assert self._search.overflows() == 0
        [listed] = self._search.nbest([0], LISTED, finalize=[finalize])
        if listed is None:
            return
        expected = [(nats(cost), words) for cost, words in self._oracle.nbest(finalize)]
        if len(expected) < LISTED:
            assert sorted((one.cost, one.words) for one in listed) == expected, "another list"
