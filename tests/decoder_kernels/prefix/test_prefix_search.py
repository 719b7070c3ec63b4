"""Prefix search: known answers, slots that keep to themselves, and input that is refused."""

import math

import pytest
import torch
from torch import Tensor

from earshot.decoder_kernels.errors import InvalidConfig, InvalidInput
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig

VOCAB_SIZE = 7


def log_probs(seed: int, *shape: int, spread: float = 2.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.log_softmax(spread * torch.randn(*shape, generator=generator), dim=-1)


def make_search(device: torch.device, num_slots: int = 4, **options: int) -> PrefixSearch:
    return PrefixSearch(PrefixSearchConfig(**options), num_slots, VOCAB_SIZE, device)


def advance(search: PrefixSearch, slots: list[int], frames: Tensor) -> None:
    """Search all frames ``(B, T, V)`` of these slots."""
    lengths = torch.full((len(slots),), frames.shape[1])
    search.advance(torch.tensor(slots), frames.to(search.device), lengths)


def test_wenets_own_unit_test(device: torch.device) -> None:
    """Three frames by hand; the truth stands in WeNet's ctc_prefix_beam_search_test.cc."""
    rows = [[0.25, 0.40, 0.35], [0.40, 0.35, 0.25], [0.10, 0.50, 0.40]]
    search = PrefixSearch(PrefixSearchConfig(beam_size=3, token_beam=3), 1, 3, device)
    advance(search, [0], torch.tensor([rows]).log())
    found = search.nbest(0, 3)
    assert [one.tokens for one in found] == [(2, 1), (1, 2), (1,)]
    assert [one.frames for one in found] == [(0, 2), (0, 2), (2,)]
    expected = [0.2185, 0.1550, 0.1525]
    assert [math.exp(one.score) for one in found] == pytest.approx(expected, abs=1e-6)
    assert [math.exp(p) for p in found[0].token_log_probs] == pytest.approx([0.35, 0.5])


def test_a_fresh_slot_has_found_the_empty_text(device: torch.device) -> None:
    search = make_search(device)
    [hypothesis] = search.nbest(2, 5)
    assert hypothesis.tokens == hypothesis.frames == hypothesis.token_log_probs == ()
    assert hypothesis.score == 0.0
    assert [result.stable_length for result in search.best(torch.tensor([0, 3]))] == [0, 0]


def test_blank_alone_is_silence(device: torch.device) -> None:
    search = make_search(device)
    silence = torch.full((1, 20, VOCAB_SIZE), -20.0)
    silence[:, :, 0] = 0.0
    advance(search, [1], silence)
    assert search.nbest(1, 1)[0].tokens == ()


def test_a_doubled_token_needs_a_blank_between(device: torch.device) -> None:
    spoken = [1, 1, 0, 1, 2, 2]
    frames = torch.full((1, len(spoken), VOCAB_SIZE), -30.0)
    for frame, token in enumerate(spoken):
        frames[0, frame, token] = 0.0
    search = make_search(device)
    advance(search, [0], frames)
    assert search.nbest(0, 1)[0].tokens == (1, 1, 2)


def test_scores_are_the_sum_of_their_parts(device: torch.device) -> None:
    search = make_search(device)
    advance(search, [0], log_probs(1, 1, 30, VOCAB_SIZE))
    for hypothesis in search.nbest(0, 10):
        assert hypothesis.score == hypothesis.ctc_score + hypothesis.boost_score
        assert hypothesis.boost_score == 0.0


def test_emission_frames_rise_and_hold_the_tokens_log_probability(device: torch.device) -> None:
    frames = log_probs(2, 1, 40, VOCAB_SIZE)
    search = make_search(device)
    advance(search, [0], frames)
    for hypothesis in search.nbest(0, 10):
        assert list(hypothesis.frames) == sorted(set(hypothesis.frames))
        picked = [
            frames[0, frame, token].item()
            for frame, token in zip(hypothesis.frames, hypothesis.tokens, strict=True)
        ]
        assert list(hypothesis.token_log_probs) == picked


def test_frames_are_counted_from_the_reset(device: torch.device) -> None:
    search, frames = make_search(device), log_probs(3, 1, 12, VOCAB_SIZE)
    advance(search, [0], frames)
    first = search.nbest(0, 10)
    search.reset(torch.tensor([0]))
    advance(search, [0], frames)
    assert search.nbest(0, 10) == first


def test_a_reset_slot_shows_nothing_of_its_past_and_its_neighbours_keep_theirs(
    device: torch.device,
) -> None:
    search = make_search(device)
    advance(search, [0, 1], log_probs(4, 2, 12, VOCAB_SIZE))
    kept = search.nbest(1, 10)
    search.reset(torch.tensor([0]))
    assert [one.tokens for one in search.nbest(0, 10)] == [()]
    assert search.nbest(1, 10) == kept


def test_stable_tokens_stay(device: torch.device) -> None:
    search, frames = make_search(device, beam_size=4), log_probs(5, 1, 80, VOCAB_SIZE)
    frames[0, torch.arange(80), torch.arange(80) % VOCAB_SIZE] += 8.0
    stable: tuple[int, ...] = ()
    grown = 0
    for start in range(0, 80, 8):
        advance(search, [0], frames[:, start : start + 8])
        [result] = search.best(torch.tensor([0]))
        for hypothesis in search.nbest(0, 4):
            assert hypothesis.tokens[: len(stable)] == stable
        grown += result.stable_length > len(stable)
        stable = result.hypothesis.tokens[: result.stable_length]
    assert grown >= 3


def test_fewer_results_than_asked_for_are_returned_and_no_more(device: torch.device) -> None:
    search = make_search(device, beam_size=3)
    advance(search, [0], log_probs(6, 1, 9, VOCAB_SIZE))
    everything = search.nbest(0, 50)
    assert len(everything) == 3
    assert search.nbest(0, 2) == everything[:2]
    assert search.nbest(0, 0) == []


def test_empty_batches_and_empty_chunks_change_nothing(device: torch.device) -> None:
    search = make_search(device)
    search.advance(
        torch.empty(0, dtype=torch.int64),
        torch.empty(0, 5, VOCAB_SIZE, device=device),
        torch.empty(0, dtype=torch.int64),
    )
    advance(search, [0], torch.empty(1, 0, VOCAB_SIZE))
    assert search.best(torch.empty(0, dtype=torch.int64)) == []
    assert search.nbest(0, 1)[0].tokens == ()


def test_a_vocabulary_smaller_than_the_token_beam(device: torch.device) -> None:
    search = PrefixSearch(PrefixSearchConfig(token_beam=10), 1, 2, device)
    advance(search, [0], log_probs(7, 1, 10, 2))
    assert set(search.nbest(0, 1)[0].tokens) <= {1}


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_a_poisoned_lane_is_named_and_left_alone_while_others_go_on(
    device: torch.device, poison: float
) -> None:
    search, alone = make_search(device), make_search(device)
    first, second = log_probs(8, 3, 6, VOCAB_SIZE), log_probs(9, 3, 6, VOCAB_SIZE)
    advance(search, [0, 1, 2], first)
    before = search.nbest(1, 10)
    poisoned = second.clone()
    poisoned[1, 5, 3] = poison
    with pytest.raises(InvalidInput, match="lane 1: NaN or plus infinity") as refusal:
        advance(search, [0, 1, 2], poisoned)
    assert refusal.value.lanes == (1,)
    assert search.nbest(1, 10) == before
    for chunk in (first, second):
        advance(alone, [0, 1, 2], chunk)
    assert search.nbest(0, 10) == alone.nbest(0, 10)
    assert search.nbest(2, 10) == alone.nbest(2, 10)
    advance(search, [1], second[1:2])
    assert search.nbest(1, 10) == alone.nbest(1, 10)


def test_poison_behind_a_lanes_length_does_no_harm(device: torch.device) -> None:
    search, frames = make_search(device), log_probs(10, 1, 6, VOCAB_SIZE)
    frames[0, 4] = math.nan
    search.advance(torch.tensor([0]), frames.to(device), torch.tensor([4]))
    assert search.nbest(0, 1)[0].score < 0


def test_minus_infinity_forbids_a_token(device: torch.device) -> None:
    search, frames = make_search(device), log_probs(11, 1, 20, VOCAB_SIZE)
    frames[:, :, 2] = -math.inf
    advance(search, [0], frames)
    assert all(2 not in one.tokens and math.isfinite(one.score) for one in search.nbest(0, 10))


def test_a_frame_without_any_token_is_refused(device: torch.device) -> None:
    search, frames = make_search(device), log_probs(12, 2, 6, VOCAB_SIZE)
    frames[0, 3] = -math.inf
    with pytest.raises(InvalidInput, match="without any finite") as refusal:
        advance(search, [0, 1], frames)
    assert refusal.value.lanes == (0,)
    assert search.nbest(0, 1)[0].tokens == ()


def test_a_slot_that_is_too_small_counts_and_still_ends(device: torch.device) -> None:
    """The beam is cut to its best, then frames are left out; nothing is lost that was found."""
    small = make_search(device, beam_size=5, token_beam=5, node_capacity=24)
    spoken = [1, 0, 2, 0, 3, 0] * 10
    frames = log_probs(13, 1, len(spoken), VOCAB_SIZE, spread=0.5)
    for frame, token in enumerate(spoken):
        frames[0, frame, token] += 8.0
    advance(small, [0], frames)
    overflows = small.overflows()
    assert overflows > 0
    assert small.overflows_of(torch.tensor([0]))[0] == overflows
    [result] = small.best(torch.tensor([0]))
    assert 1 <= len(result.hypothesis.tokens) <= 24
    assert (
        list(result.hypothesis.tokens)
        == [1, 2, 3] * 6 + [1, 2, 3][: len(result.hypothesis.tokens) - 18]
    )
    assert len(result.hypothesis.frames) == len(result.hypothesis.tokens)
    small.reset(torch.tensor([0]))
    assert (small.overflows(), small.overflows_of(torch.tensor([0]))[0]) == (overflows, 0)
    advance(small, [0], frames[:, :12])
    assert small.nbest(0, 1)[0].tokens == (1, 2, 3, 1, 2, 3)


def test_nodes_are_used_again(device: torch.device) -> None:
    """A search whose hypotheses agree on the past runs on in a pool far smaller than its frames."""
    search = make_search(device, beam_size=4, token_beam=4, node_capacity=256)
    frames = log_probs(14, 1, 2000, VOCAB_SIZE, spread=0.25)
    frames[:, :, 0] += 9.0
    frames[0, ::100, 1] += 18.0
    advance(search, [0], frames)
    assert search.overflows() == 0
    assert len(search.nbest(0, 1)[0].tokens) == 20


@pytest.mark.parametrize(
    "slots", [[0, 0], [-1], [4]], ids=["the same twice", "negative", "one too many"]
)
def test_slots_must_be_distinct_and_exist(device: torch.device, slots: list[int]) -> None:
    with pytest.raises(InvalidInput, match="slots"):
        advance(make_search(device), slots, log_probs(15, len(slots), 2, VOCAB_SIZE))


def test_batches_must_fit_the_search(device: torch.device) -> None:
    search, one = make_search(device), torch.tensor([1])
    good = log_probs(16, 1, 3, VOCAB_SIZE).to(device)
    with pytest.raises(InvalidInput, match="log_probs must be"):
        search.advance(one, good[:, :, 1:], one)
    with pytest.raises(InvalidInput, match="float32"):
        search.advance(one, good.double(), one)
    with pytest.raises(InvalidInput, match="lengths"):
        search.advance(one, good, torch.tensor([4]))
    with pytest.raises(InvalidInput, match="lengths"):
        search.advance(one, good, torch.tensor([-1]))


@pytest.mark.parametrize(
    "numbers",
    [torch.tensor([1.5]), torch.tensor([True]), torch.tensor(1), torch.tensor([[1]])],
    ids=["a fraction", "a truth", "no dimension", "two dimensions"],
)
def test_slots_and_lengths_are_rows_of_integers(
    device: torch.device, numbers: torch.Tensor
) -> None:
    search, one = make_search(device), torch.tensor([1])
    good = log_probs(16, 1, 3, VOCAB_SIZE).to(device)
    with pytest.raises(InvalidInput, match="slots must be"):
        search.advance(numbers, good, one)
    with pytest.raises(InvalidInput, match="lengths must be"):
        search.advance(one, good, numbers)


@pytest.mark.parametrize(
    "options",
    [
        {"beam_size": 0},
        {"beam_size": 1000},
        {"token_beam": 0},
        {"node_capacity": 10},
        {"blank_id": -1},
        {"workers": 0},
        {"block_threads": 0},
        {"boost_capacity": -1},
    ],
)
def test_configs_are_checked(options: dict[str, int]) -> None:
    with pytest.raises(InvalidConfig):
        PrefixSearchConfig(**options)


def test_the_blank_must_lie_in_the_vocabulary() -> None:
    with pytest.raises(InvalidConfig):
        PrefixSearch(PrefixSearchConfig(blank_id=9), 1, vocab_size=9)
