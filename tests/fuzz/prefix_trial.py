"""Prefix search under `SearchTrial`."""

import math
from random import Random
from typing import Any

import fuzz_device
import hostile_inputs
import torch
from hostile_inputs import INTEGERS
from search_trial import SearchTrial

from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig


def random_config(dice: Random, vocab_size: int) -> PrefixSearchConfig:
    """Mostly with too few nodes for long."""
    beam_size = dice.choice((1, 2, 5, 10, 10, 10, 10, 128))
    return PrefixSearchConfig(
        beam_size=beam_size,
        token_beam=dice.choice((1, 2, 10, 128)),
        blank_id=dice.randrange(vocab_size),
        node_capacity=2 * beam_size + dice.choice((0, 1, 20, 200)),
        boost_capacity=dice.choice((0, 10, 100, 20_000)),
        boost_candidates=dice.random() < 0.5,
        workers=dice.choice((1,) * 9 + (3,)),
        block_threads=fuzz_device.block_threads(dice),
    )


class PrefixTrial(SearchTrial[PrefixSearch]):
    """Slots of a prefix search."""

    def __init__(self, dice: Random) -> None:
        vocab_size = dice.choice((2, 3, 5, 20, 200))
        self.config = random_config(dice, vocab_size)
        super().__init__(
            dice,
            vocab_size,
            lambda slots: PrefixSearch(self.config, slots, vocab_size, fuzz_device.device()),
        )

    def snapshot(self, search: PrefixSearch, slot: int) -> Any:
        """The best."""
        return search.best(torch.tensor([slot]))[0]

    def full_snapshot(self, search: PrefixSearch, slot: int) -> Any:
        """The whole beam."""
        return search.nbest(slot, self.config.beam_size, finalize=False)

    def boost(self, slot: int) -> None:
        """Phrases of tokens."""
        table = hostile_inputs.token_table(self.dice, self.vocab_size, self.config.blank_id)
        self.search.set_boost(slot, table)

    def list_one(self, slot: int) -> None:
        """As long as it gets."""
        self.search.nbest(slot, 1)

    def check_results(self, slot: int) -> None:
        """Tokens exist, times ascend, scores are numbers and in order."""
        [result] = self.search.best(torch.tensor([slot]))
        assert 0 <= result.stable_length <= len(result.hypothesis.tokens)
        found = self.search.nbest(slot, self.dice.choice((3, *INTEGERS)))
        for each in (result.hypothesis, *found):
            assert all(0 <= token < self.vocab_size for token in each.tokens)
            assert self.config.blank_id not in each.tokens
            assert list(each.frames) == sorted(each.frames)
            assert all(0 <= frame < self.frames[slot] for frame in each.frames)
            assert len(each.tokens) == len(each.frames) == len(each.token_log_probs)
            assert math.isfinite(each.score)
            assert each.score == each.ctc_score + each.boost_score
        assert [each.score for each in found] == sorted((e.score for e in found), reverse=True)
        assert len({each.tokens for each in found}) == len(found)
