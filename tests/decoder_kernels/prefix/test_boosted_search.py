"""Boosts in the search: pruning sees them, they come back when unfinished, slots keep their own."""

import math

import pytest
import torch
from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostPhrase, BoostTable
from earshot.decoder_kernels.errors import BoostTableError, CapacityExceeded
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig

VOCAB_SIZE = 40
ONE = torch.tensor([0])


def table(*phrases: tuple[tuple[int, ...], float]) -> BoostTable:
    return BoostTable.compile([BoostPhrase(*phrase) for phrase in phrases], VOCAB_SIZE)


def make_search(device: torch.device, **options: int) -> PrefixSearch:
    return PrefixSearch(PrefixSearchConfig(**options), 3, VOCAB_SIZE, device)


def advance(search: PrefixSearch, frames: Tensor, slot: int = 0) -> None:
    search.advance(
        torch.tensor([slot]), frames[None].to(search.device), torch.tensor([len(frames)])
    )


def spoken(*frames: dict[int, float]) -> Tensor:
    """Log-probabilities (T, V) of a few tokens per frame; all others are next to impossible."""
    rows = torch.full((len(frames), VOCAB_SIZE), -30.0)
    for frame, tokens in enumerate(frames):
        for token, probability in tokens.items():
            rows[frame, token] = math.log(probability)
    return rows


def far_down(tokens: tuple[int, ...]) -> Tensor:
    """Frames in which each token of the phrase has the acoustic rank 21 of 40; blanks between."""
    rows = torch.full((2 * len(tokens), VOCAB_SIZE), -12.0)
    for position, token in enumerate(tokens):
        rows[2 * position, 1:21] = -3.0 - torch.arange(20) / 100
        rows[2 * position, token] = -4.0
        rows[2 * position + 1, 0] = -0.001
    return rows


@pytest.mark.parametrize("length", [1, 3])
def test_a_boosted_phrase_comes_through_although_no_token_of_it_is_in_the_token_beam(
    device: torch.device, length: int
) -> None:
    phrase = tuple(range(30, 30 + length))
    boost = table((phrase, 3.0))
    search = make_search(device, token_beam=5)
    search.set_boost(0, boost)
    advance(search, far_down(phrase))
    assert search.nbest(0, 1)[0].tokens == phrase
    assert search.nbest(0, 1)[0].boost_score == 3.0 * length
    only_token_beam = make_search(device, token_beam=5, boost_candidates=False)
    only_token_beam.set_boost(0, boost)
    advance(only_token_beam, far_down(phrase))
    assert set(only_token_beam.nbest(0, 1)[0].tokens).isdisjoint(phrase)


def test_a_boosted_token_may_last_several_frames_outside_the_token_beam(
    device: torch.device,
) -> None:
    start, end = {1: 0.04, 2: 0.03, 30: 0.02}, {1: 0.04, 2: 0.03, 31: 0.02}
    search = make_search(device, token_beam=2, beam_size=64)
    search.set_boost(0, table(((30, 31), 4.0)))
    advance(search, spoken(start, start, start, {0: 1.0}, end, end, {0: 1.0}))
    [found] = [one for one in search.nbest(0, 64) if one.tokens == (30, 31)]
    assert found.frames == (2, 5)
    assert found.ctc_score == pytest.approx(5 * math.log(0.02))


def test_a_boost_decides_between_words_that_sound_alike(device: torch.device) -> None:
    frames = spoken({1: 0.6, 2: 0.4}, {0: 1.0}, {3: 0.6, 4: 0.4}, {0: 1.0})
    plain, boosted = make_search(device), make_search(device)
    boosted.set_boost(0, table(((2, 4), 1.0)))
    for search in (plain, boosted):
        advance(search, frames)
    assert plain.nbest(0, 1)[0].tokens == (1, 3)
    best = boosted.nbest(0, 1)[0]
    assert best.tokens == (2, 4)
    assert best.boost_score == 2.0
    assert best.score == best.ctc_score + 2.0


def test_an_unfinished_phrase_is_given_back_and_the_list_sorted_again(device: torch.device) -> None:
    frames = spoken({1: 0.6, 2: 0.4}, {0: 1.0})
    search = make_search(device)
    search.set_boost(0, table(((2, 9), 5.0)))
    advance(search, frames)
    before, after = (search.nbest(0, 10, finalize=finalize) for finalize in (False, True))
    assert before[0].tokens == (2,)
    assert before[0].boost_score == 5.0
    assert after[0].tokens == (1,)
    assert {one.tokens: one.boost_score for one in after}[(2,)] == 0.0
    assert [one.score for one in after] == sorted((one.score for one in after), reverse=True)
    assert search.best(ONE)[0].hypothesis == after[0]


def test_a_negative_weight_holds_a_word_back(device: torch.device) -> None:
    search = make_search(device)
    search.set_boost(0, table(((1,), -3.0)))
    advance(search, spoken({1: 0.6, 2: 0.4}, {0: 1.0}))
    assert search.nbest(0, 1)[0].tokens == (2,)


def test_the_token_after_a_complete_phrase_is_in_the_partial_at_once(device: torch.device) -> None:
    search = make_search(device)
    search.set_boost(0, table(((1, 2), 3.0)))
    advance(search, spoken({1: 0.9}, {2: 0.9}, {5: 0.9}))
    assert search.nbest(0, 1, finalize=False)[0].tokens == (1, 2, 5)


@pytest.mark.parametrize("weight", [1e9, -1e9])
def test_silly_weights_leave_finite_scores(device: torch.device, weight: float) -> None:
    search = make_search(device)
    search.set_boost(0, table(((1, 2), weight), ((2, 3), weight)))
    advance(search, torch.log_softmax(torch.arange(VOCAB_SIZE * 30.0).reshape(30, -1).sin(), -1))
    assert all(math.isfinite(one.score) for one in search.nbest(0, 10))


def test_each_slot_has_its_own_table(device: torch.device) -> None:
    frames = spoken({1: 0.4, 2: 0.3, 3: 0.3}, {0: 1.0})
    search = make_search(device)
    search.set_boost(0, table(((2,), 2.0)))
    search.set_boost(2, table(((3,), 2.0)))
    lanes = torch.tensor([0, 1, 2])
    batch = frames.expand(3, -1, -1).to(device)
    search.advance(lanes, batch, torch.tensor([len(frames)] * 3))
    assert [one.hypothesis.tokens for one in search.best(lanes)] == [(2,), (1,), (3,)]


def test_a_reset_keeps_the_table(device: torch.device) -> None:
    frames = spoken({1: 0.6, 2: 0.4}, {0: 1.0})
    search = make_search(device)
    search.set_boost(0, table(((2,), 2.0)))
    for _ in range(2):
        search.reset(ONE)
        advance(search, frames)
        assert search.nbest(0, 1)[0].tokens == (2,)
    search.set_boost(0, None)
    search.reset(ONE)
    advance(search, frames)
    assert search.nbest(0, 1)[0].tokens == (1,)


def test_a_complete_phrase_keeps_its_bonus_when_the_table_goes(device: torch.device) -> None:
    search = make_search(device)
    search.set_boost(0, table(((2,), 2.0)))
    advance(search, spoken({1: 0.6, 2: 0.4}, {0: 1.0}))
    search.set_boost(0, None)
    advance(search, spoken({0: 1.0}))
    assert search.nbest(0, 1)[0].tokens == (2,)
    assert search.nbest(0, 1)[0].boost_score == 2.0


def test_a_full_arena_leaves_the_slot_without_a_table(device: torch.device) -> None:
    search = make_search(device, boost_capacity=4)
    search.set_boost(1, table(((1, 2), 2.0)))
    with pytest.raises(CapacityExceeded):
        search.set_boost(0, table(((2,), 2.0)))
    frames = spoken({1: 0.6, 2: 0.4}, {0: 1.0})
    advance(search, frames)
    assert search.nbest(0, 1)[0].tokens == (1,)
    search.set_boost(1, None)
    search.set_boost(0, table(((2,), 2.0)))


def test_phrases_hold_no_blank_and_no_strange_tokens(device: torch.device) -> None:
    search = make_search(device)
    with pytest.raises(BoostTableError, match="blank"):
        search.set_boost(0, table(((1, 0), 2.0)))
    with pytest.raises(BoostTableError, match="outside"):
        search.set_boost(0, BoostTable.compile([BoostPhrase((VOCAB_SIZE,), 1.0)], VOCAB_SIZE + 1))
