"""The native step must be what torch's is: for every conformer, lane and kind of processor."""

import copy
import functools
from random import Random

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tiny_models import WHISPER, make_tiny_model
from torch import Tensor

from earshot.models.native.given_up import give_up
from earshot.models.native.weights import processors
from earshot.models.u2.conformer_step import ConformerStep, is_native
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.lanes import EncoderState, LaneUpdate
from earshot.models.u2.slot_step import TorchSlotStep

SLOTS, CHUNK = 5, 6
ODD = {"output_size": 36, "linear_units": 50, "cnn_module_kernel": 5}
ENCODERS = {
    "rel_pos": {},
    "no_pos_relu": {"positions": "no_pos", "activation": "relu"},
    "abs_pos_gelu": {"positions": "abs_pos", "activation": "gelu"},
    "batch_norm": {"cnn_module_norm": "batch_norm"},
    "kernel_longer_than_a_chunk": {"cnn_module_kernel": 12},
    "kernel_without_memory": {"cnn_module_kernel": 1},
    "no_convolution": {"use_cnn_module": False},
    "no_macaron": {"macaron_style": False, "cnn_module_norm": "batch_norm"},
    "neither": {"use_cnn_module": False, "macaron_style": False},
    "open_block": {"block_norm": False, "norm_eps": 1e-3, "conv_norm_eps": 1e-2},
    "small_heads": {"attention_heads": 6},
    "transformer": {"kind": "transformer", "positions": "abs_pos", "activation": "relu"},
    "whisper": WHISPER,
    "pooled_at_once": {**WHISPER, "pool_after_block": 0, "narrow": 14},
    "pooled_between": {**WHISPER, "pool_after_block": 1, "narrow": 44},
    "pooled_last": {**WHISPER, "pool_after_block": 2},
    "pooled_conformer": {
        "use_cnn_module": False,
        "positions": "no_pos",
        "pool_after_block": 1,
        "input_layer": "conv1d6",
    },
    "two_panels_and_a_half": {"output_size": 80, "linear_units": 176, "num_blocks": 1},
}
LANES = st.permutations(range(SLOTS)).flatmap(
    lambda slots: st.lists(st.integers(0, CHUNK), min_size=1, max_size=SLOTS).map(
        lambda lengths: dict(zip(slots, lengths, strict=False))
    )
)
"""A step: slots in any order, and how many frames are real in each."""


@functools.cache
def tiny_encoder(name: str) -> Encoder:
    return make_tiny_model(**{**ODD, **ENCODERS[name]}).encoder


@functools.cache
def tiny_step(name: str, processor: str) -> ConformerStep:
    return ConformerStep(tiny_encoder(name), processor)


@pytest.fixture(scope="session", params=processors())
def processor(request) -> str:
    return request.param


@pytest.fixture
def threads():
    """Sets torch's number of threads, which it has again after the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture
def plain(monkeypatch) -> Encoder:
    """An encoder that is given its blocks' input."""
    encoder = tiny_encoder("rel_pos")
    monkeypatch.setattr(encoder, "heard", lambda rows, _: rows)
    monkeypatch.setattr(encoder, "embed_heard", lambda rows, *_: rows)
    return encoder


def features(encoder: Encoder, lanes: int) -> Tensor:
    frames = (CHUNK - 1) * encoder.subsampling_rate + encoder.right_context + 1
    return torch.randn(lanes, frames, encoder.config.input_dim)


def copied(state: EncoderState) -> EncoderState:
    return EncoderState(*(tensor.clone() for tensor in vars(state).values()))


def full_state(encoder: Encoder, capacity: int) -> EncoderState:
    """Lanes of which some have wrapped around the ring, and one has not begun."""
    state = encoder.initial_state(SLOTS, capacity)
    state.cnn_cache[:-1].normal_()
    state.att_cache[:-1].normal_()
    state.offset[:-1] = torch.tensor([1, capacity, capacity + 3, 6_000])
    state.cache_length[:] = state.offset.clamp(max=capacity)
    return state


def lane_bits(found: tuple[Tensor, LaneUpdate], row: int) -> list[Tensor]:
    encoded, update = found
    return [encoded[row], update.att_columns[row], update.cnn_cache[row]]


def assert_bits(found: list[Tensor], expected: list[Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", ENCODERS)
@settings(max_examples=8)
@given(capacity=st.integers(0, 3 * CHUNK), steps=st.lists(LANES, min_size=1, max_size=6))
@example(capacity=0, steps=[{3: CHUNK, 0: 2}, {0: CHUNK, 3: 1}])
@example(capacity=4, steps=[{1: CHUNK, 4: 3}] * 3)
@example(capacity=2 * CHUNK + 1, steps=[{2: CHUNK, 1: CHUNK - 1, 0: 0}] * 5)
@torch.no_grad()
def test_lanes_move_on_as_in_torch(processor, name, capacity, steps, assert_same):
    encoder, step = tiny_encoder(name), tiny_step(name, processor)
    torch.manual_seed(len(steps))
    ours = encoder.initial_state(SLOTS, capacity)
    torchs = copied(ours)
    for lanes in steps:
        slots, lengths = torch.tensor(list(lanes)), torch.tensor(list(lanes.values()))
        feats, columns = features(encoder, len(lanes)), int(torchs.offset.max())
        encoded, update = step(feats, lengths, ours, slots, columns)
        expected, change = TorchSlotStep(encoder)(feats, lengths, torchs, slots, columns)
        ours.scatter(slots, update)
        torchs.scatter(slots, change)
        for row, length in enumerate(lengths.tolist()):
            assert_same(encoded[row, :length], expected[row, :length], rtol=1e-5)
        assert torch.equal(ours.offset, torchs.offset)
        assert torch.equal(ours.cache_length, torchs.cache_length)
        assert_same(ours.att_cache[:, :, :, :-1], torchs.att_cache[:, :, :, :-1], rtol=1e-5)
        assert_same(ours.cnn_cache, torchs.cnn_cache, rtol=1e-5)


@pytest.mark.parametrize("name", ["rel_pos", "no_pos_relu", "abs_pos_gelu"])
@torch.no_grad()
def test_saturated_gates_and_activations_are_torchs(processor, name, assert_same):
    encoder = copy.deepcopy(tiny_encoder(name))
    for layer in encoder.layers:
        layer.feed_forward.w_1.weight *= 300
        layer.conv_module.pointwise_conv1.weight *= 300
    torch.manual_seed(1)
    feats, lengths = features(encoder, 2), torch.tensor([CHUNK, 4])
    state, slots = encoder.initial_state(2, 8), torch.arange(2)
    encoded, _ = ConformerStep(encoder, processor)(feats, lengths, state, slots, 0)
    expected, _ = TorchSlotStep(encoder)(feats, lengths, state, slots, 0)
    for row, length in enumerate(lengths.tolist()):
        assert_same(encoded[row, :length], expected[row, :length], rtol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@torch.no_grad()
def test_a_lane_has_the_same_bits_alone_and_in_company(processor, plain, threads, seed):
    torch.manual_seed(seed)
    chance, step, state = Random(seed), ConformerStep(plain, processor), full_state(plain, 9)
    slots = torch.tensor(chance.sample(range(SLOTS), SLOTS))
    lengths = torch.tensor([chance.randint(0, 17) for _ in range(SLOTS)])
    rows = torch.randn(SLOTS, 17, plain.output_size)
    threads(1 + seed)
    together = step(rows, lengths, state, slots, 6_000)
    threads(1)
    for i in range(SLOTS):
        one = slice(i, i + 1)
        alone = step(rows[one], lengths[one], state, slots[one], 6_000)
        assert_bits(lane_bits(together, i), lane_bits(alone, 0))


@pytest.mark.parametrize("name", ["whisper", "pooled_at_once", "pooled_between", "pooled_last"])
@torch.no_grad()
def test_a_whispers_lane_has_the_same_bits_from_its_features_on(processor, threads, name):
    """Alone and among sixteen, of which some begin, some are short and some stand still."""
    encoder, step, lanes = tiny_encoder(name), tiny_step(name, processor), 16
    torch.manual_seed(7)
    state = encoder.initial_state(lanes, 9)
    state.cnn_cache[4:].normal_()
    state.att_cache[4:].normal_()
    state.offset[4:] = torch.arange(1, lanes - 3)
    state.cache_length[:] = state.offset.clamp(max=9)
    feats, slots = features(encoder, lanes), torch.randperm(lanes)
    lengths = torch.randint(0, CHUNK + 1, (lanes,))
    threads(3)
    together = step(feats, lengths, state, slots, 12)
    threads(1)
    for i in range(lanes):
        one = slice(i, i + 1)
        alone = step(feats[one], lengths[one], state, slots[one], 12)
        assert_bits(lane_bits(together, i), lane_bits(alone, 0))


@pytest.mark.parametrize("pool", [None, 0, 1, 2])
@torch.no_grad()
def test_native_chunks_give_the_masked_whole(processor, pool, assert_same):
    """From the first feature on, with less left context than there is."""
    encoder = make_tiny_model(**{**WHISPER, "pool_after_block": pool, "narrow": 10}).encoder
    step, left, frames = ConformerStep(encoder, processor), 2, 5 * CHUNK - 2
    torch.manual_seed(8)
    rate, window = encoder.subsampling_rate, features(encoder, 1).size(1)
    feats = torch.randn(1, (frames - 1) * rate + encoder.right_context + 1, 80)
    masked, _ = encoder(feats, torch.tensor([feats.size(1)]), CHUNK, left)
    state, slots, found = encoder.initial_state(2, left * CHUNK), torch.tensor([1]), []
    for first in range(0, frames, CHUNK):
        rows = feats[:, first * rate :][:, :window]
        rows = torch.nn.functional.pad(rows, (0, 0, 0, window - rows.size(1)))
        lengths = torch.tensor([min(CHUNK, frames - first)])
        encoded, update = step(rows, lengths, state, slots, frames)
        state.scatter(slots, update)
        found.append(encoded[0, : int(lengths[0])])
    assert_same(torch.cat(found), masked[0], rtol=1e-5)


@pytest.mark.parametrize("workers", [2, 3, SLOTS + 2])
@torch.no_grad()
def test_several_workers_give_the_bits_of_one(processor, plain, threads, workers):
    torch.manual_seed(2)
    step, state = ConformerStep(plain, processor), full_state(plain, 9)
    rows, slots = torch.randn(SLOTS, CHUNK, plain.output_size), torch.arange(SLOTS)
    lengths = torch.tensor([0, CHUNK, 1, 5, 2])
    found = []
    for count in (1, workers):
        threads(count)
        found.append(step(rows, lengths, state, slots, 6_000))
    for i in range(SLOTS):
        assert_bits(lane_bits(found[0], i), lane_bits(found[1], i))


@torch.inference_mode()
@pytest.mark.parametrize("name", ["rel_pos", "transformer", "pooled_between"])
def test_blocks_that_were_given_up_are_freed_as_they_are_copied(name) -> None:
    kept = tiny_encoder(name)
    given_up = copy.deepcopy(kept)
    give_up(given_up)
    feats, lengths, slots = features(kept, 2), torch.tensor([CHUNK, 3]), torch.tensor([1, 0])
    state = full_state(kept, 20)
    expected, found = (
        ConformerStep(each, "portable")(feats, lengths, copied(state), slots, 20)
        for each in (kept, given_up)
    )
    assert_bits(lane_bits(found, 0), lane_bits(expected, 0))
    assert all(weights.is_meta for layer in given_up.layers for weights in layer.parameters())
    assert not any(weights.is_meta for weights in kept.parameters())


@torch.no_grad()
def test_nan_in_one_lane_stays_in_that_lane(processor, plain):
    torch.manual_seed(3)
    step, state = ConformerStep(plain, processor), full_state(plain, 9)
    rows, slots = torch.randn(3, CHUNK, plain.output_size), torch.tensor([4, 0, 2])
    lengths = torch.tensor([CHUNK] * 3)
    clean = step(rows, lengths, state, slots, 6_000)
    rows[1, 2, 5] = torch.nan
    dirty = step(rows, lengths, state, slots, 6_000)
    assert dirty[0][1, 2:].isnan().all()
    for other in (0, 2):
        assert_bits(lane_bits(dirty, other), lane_bits(clean, other))


@torch.no_grad()
def test_what_no_lane_may_see_changes_nothing(processor, plain):
    torch.manual_seed(4)
    step, state = ConformerStep(plain, processor), full_state(plain, 9)
    rows, slots = torch.randn(2, CHUNK, plain.output_size), torch.tensor([0, 2])
    lengths = torch.tensor([3, 5])
    before = step(rows, lengths, state, slots, 6_000)
    rows[0, 3:] = rows[1, 5:] = torch.nan  # padding
    state.att_cache[:, :, :, -1] = torch.nan  # where frames are written that nobody wants
    state.att_cache[0, :, :, 1:] = torch.nan  # not yet written: the lane has put out one frame
    after = step(rows, lengths, state, slots, 6_000)
    for row in range(2):
        assert_bits(lane_bits(after, row), lane_bits(before, row))
        assert not after[0][row, int(lengths[row]) :].any()


@torch.no_grad()
def test_a_lane_that_stands_still_keeps_its_bits(processor, plain):
    torch.manual_seed(5)
    step, state = ConformerStep(plain, processor), full_state(plain, 9)
    before, slots = copied(state), torch.arange(SLOTS)
    rows, lengths = torch.randn(SLOTS, CHUNK, plain.output_size), torch.zeros(SLOTS, dtype=int)
    encoded, update = step(rows, lengths, state, slots, 6_000)
    state.scatter(slots, update)
    assert not encoded.any()
    assert torch.equal(state.cnn_cache, before.cnn_cache)
    assert torch.equal(state.att_cache[:, :, :, :-1], before.att_cache[:, :, :, :-1])


@torch.no_grad()
def test_a_step_leaves_the_state_as_it_was(processor):
    encoder, step = tiny_encoder("rel_pos"), tiny_step("rel_pos", processor)
    state = full_state(encoder, 9)
    before, slots = copied(state), torch.tensor([3, 1])
    step(features(encoder, 2), torch.tensor([CHUNK, 2]), state, slots, 6_000)
    for now, then in zip(vars(state).values(), vars(before).values(), strict=True):
        assert torch.equal(now, then)


def test_every_machine_runs_the_portable_kind_and_prefers_another():
    assert processors()[-1] == "portable"
    assert len(set(processors())) == len(processors())


def test_a_processor_that_is_not_here_is_refused():
    with pytest.raises(ValueError, match="this processor cannot run abacus"):
        ConformerStep(tiny_encoder("rel_pos"), "abacus")


def test_only_a_streamable_encoder_in_single_precision_is_native(tiny_models):
    conformer = tiny_models["conformer"].encoder
    assert is_native(conformer)
    assert not is_native(copy.deepcopy(conformer).double())
    assert not is_native(copy.deepcopy(conformer).to("meta"))
    assert not is_native(tiny_models["positional_keys_pooled"].encoder)
    assert not is_native(make_tiny_model(causal=False).encoder)
