"""Many streams in one batch must be what each of them is alone."""

import math
from dataclasses import dataclass, field
from random import Random

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept_frames import frames_like
from torch import Tensor

from earshot.models.u2.encoder import Encoder
from earshot.models.u2.lanes import GPU_ALIGNMENT_BYTES, EncoderState, LaneUpdate

CHUNK_SIZE = 4
SETTINGS = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def window_frames(encoder: Encoder, chunk_size: int = CHUNK_SIZE) -> int:
    """How many feature frames a chunk needs."""
    return (chunk_size - 1) * encoder.subsampling_rate + encoder.right_context + 1


def step(
    encoder: Encoder, state: EncoderState, features: Tensor, lengths: list[int], room=CHUNK_SIZE
) -> Tensor:
    """One chunk of every stream there is."""
    rows = torch.arange(len(lengths))
    outputs, update = encoder.forward_lanes(
        features, torch.tensor(lengths), state.gather(rows, room)
    )
    state.scatter(rows, update)
    return outputs


def tensors(state: EncoderState) -> list[Tensor]:
    return [tensor.clone() for tensor in vars(state).values()]


@dataclass
class Track:
    """A stream in a test: its features, how far it is, and what came out."""

    features: Tensor  # (T, F)
    start: int = 0
    outputs: list[Tensor] = field(default_factory=list)

    def next_window(self, encoder: Encoder) -> Tensor:
        return self.features[self.start : self.start + window_frames(encoder)]

    def has_more(self, encoder: Encoder) -> bool:
        return len(self.features) - self.start > encoder.right_context


def run_alone(encoder: Encoder, features: Tensor, cache_frames: int) -> Tensor:
    """The stream by WeNet's contract."""
    track, offset = Track(features), 0
    att_cache = cnn_cache = torch.zeros(0, 0, 0, 0)
    while track.has_more(encoder):
        output, att_cache, cnn_cache = encoder.forward_chunk(
            track.next_window(encoder)[None], offset, cache_frames, att_cache, cnn_cache
        )
        offset += output.size(1)
        track.outputs.append(output[0])
        track.start += CHUNK_SIZE * encoder.subsampling_rate
    return torch.cat(track.outputs)


def advance(encoder: Encoder, state, tracks: list[Track], slots: list[int]) -> None:
    """One batched step of the tracks in `slots`, which are gathered and scattered back."""
    windows = [tracks[slot].next_window(encoder) for slot in slots]
    lengths = encoder.output_lengths(torch.tensor([len(window) for window in windows]))
    batch = torch.zeros(len(slots), window_frames(encoder), windows[0].size(1))
    for row, window in zip(batch, windows, strict=True):
        row[: len(window)] = window
    rows = torch.tensor(slots)
    heard = max(len(tracks[slot].outputs) for slot in slots) * CHUNK_SIZE
    context = state.gather(rows, CHUNK_SIZE, heard)
    outputs, update = encoder.forward_lanes(batch, lengths, context)
    state.scatter(rows, update)
    for slot, output, length in zip(slots, outputs, lengths.tolist(), strict=True):
        tracks[slot].outputs.append(output[:length])
        tracks[slot].start += CHUNK_SIZE * encoder.subsampling_rate


@SETTINGS
@given(
    left_chunks=st.integers(0, 4),
    lengths=st.lists(st.integers(15, 160), min_size=1, max_size=5),
    seed=st.integers(0, 2**16),
)
@torch.no_grad()
def test_lanes_equal_single_streams_whoever_joins_or_leaves(tiny_model, left_chunks, lengths, seed):
    encoder, left_frames, chance = tiny_model.encoder, CHUNK_SIZE * left_chunks, Random(seed)
    torch.manual_seed(seed)
    tracks = [Track(torch.randn(length, 80)) for length in lengths]
    state = encoder.initial_state(len(tracks), left_frames)
    resets = chance.randint(0, 3)
    while live := [i for i, track in enumerate(tracks) if track.has_more(encoder)]:
        advance(encoder, state, tracks, chance.sample(live, chance.randint(1, len(live))))
        if resets and chance.random() < 0.3:
            resets, slot = resets - 1, chance.choice(live)
            state.reset(torch.tensor([slot]))
            tracks[slot] = Track(tracks[slot].features)
    for track in tracks:
        alone = run_alone(encoder, track.features, left_frames)
        torch.testing.assert_close(torch.cat(track.outputs), alone, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("chunk_size", "left"), [(16, 4), (4, 4)])
@torch.no_grad()
def test_two_golden_streams_in_one_batch_equal_wenets(
    streamable_golden, chunk_size, left, assert_same
):
    golden, encoder = streamable_golden, streamable_golden.model.encoder
    window = window_frames(encoder, chunk_size)
    a, b = golden.features["A"][0], golden.features["B"][0]
    state = encoder.initial_state(2, chunk_size * left)
    outputs: list[list[Tensor]] = [[], []]
    for start in range(0, len(b) - encoder.right_context, chunk_size * encoder.subsampling_rate):
        chunks = [features[start : start + window] for features in (a, b)]
        lengths = encoder.output_lengths(torch.tensor([len(chunk) for chunk in chunks]))
        batch = torch.zeros(2, window, 80)
        for row, chunk in zip(batch, chunks, strict=True):
            row[: len(chunk)] = chunk
        encoded = step(encoder, state, batch, lengths.tolist(), chunk_size)
        for lane, length in enumerate(lengths.tolist()):
            outputs[lane].append(encoded[lane, :length])
    for utterance, pieces in zip("AB", outputs, strict=True):
        expected = golden.arrays[f"stream_c{chunk_size}_l{left}_{utterance}"][0]
        assert_same(frames_like(torch.cat(pieces), expected, dim=0), expected)


@torch.no_grad()
def test_a_lane_without_frames_stands_still(tiny_model):
    encoder, state = tiny_model.encoder, tiny_model.encoder.initial_state(2, 8)
    torch.manual_seed(0)
    features = torch.randn(2, window_frames(encoder), 80)
    step(encoder, state, features, [CHUNK_SIZE] * 2)
    before = tensors(state)
    assert torch.isfinite(step(encoder, state, features, [0, CHUNK_SIZE])).all()
    for old, new in zip(before, tensors(state), strict=True):
        kept = new[0, :, :, :-1] if new.dim() == 5 else new[0]  # but what nobody wants
        torch.testing.assert_close(kept, old[0, :, :, :-1] if old.dim() == 5 else old[0])


@torch.no_grad()
def test_a_lane_that_never_began_stays_finite(tiny_model):
    encoder, state = tiny_model.encoder, tiny_model.encoder.initial_state(1, 8)
    features = torch.zeros(1, window_frames(encoder), 80)
    assert torch.isfinite(step(encoder, state, features, [0])).all()
    assert state.offset.tolist() == state.cache_length.tolist() == [0]


@torch.no_grad()
def test_a_step_leaves_the_state_as_it_was_until_it_is_put_back(tiny_model):
    encoder, state = tiny_model.encoder, tiny_model.encoder.initial_state(1, 8)
    features = torch.randn(1, window_frames(encoder), 80)
    context = state.gather(torch.tensor([0]), CHUNK_SIZE)
    encoder.forward_lanes(features, torch.tensor([CHUNK_SIZE]), context)
    assert not any(tensor.any() for tensor in tensors(state))


@torch.no_grad()
def test_lanes_equal_single_streams_beyond_5000_positions(tiny_models):
    encoder = tiny_models["conformer"].encoder
    torch.manual_seed(0)
    features = torch.randn(1, window_frames(encoder), 80)
    state = encoder.initial_state(1, 8)
    state.offset[:] = 6_000
    step(encoder, state, features, [CHUNK_SIZE])
    lanes = step(encoder, state, features, [CHUNK_SIZE])
    empty = torch.zeros(0, 0, 0, 0)
    _, att_cache, cnn_cache = encoder.forward_chunk(features, 6_000, 8, empty, empty)
    alone, _, _ = encoder.forward_chunk(features, 6_000 + CHUNK_SIZE, 8, att_cache, cnn_cache)
    torch.testing.assert_close(lanes, alone, rtol=0, atol=1e-5)


def test_on_a_gpu_keys_begin_where_its_attention_reads_them(tiny_model):
    cache = tiny_model.encoder.initial_state(2, 8, "meta").att_cache
    apart = {stride * cache.itemsize % GPU_ALIGNMENT_BYTES for stride in cache.stride()[:-1]}
    assert apart == {0}


@torch.no_grad()
def test_what_pads_a_column_is_never_heard(tiny_model):
    encoder = tiny_model.encoder
    windows = torch.randn(2, 2, window_frames(encoder), encoder.config.input_dim)
    plain, padded = encoder.initial_state(2, 8), encoder.initial_state(2, 8)
    room = torch.full((*padded.att_cache.shape[:-1], 3), math.nan)
    padded.att_cache = torch.cat((padded.att_cache, room), dim=-1)
    for window in windows:
        one, other = (step(encoder, state, window, [4, 2]) for state in (plain, padded))
        assert torch.equal(one, other)


@torch.no_grad()
def test_nan_in_one_lane_stays_in_that_lane(tiny_model):
    encoder = tiny_model.encoder
    torch.manual_seed(0)
    features, lengths = torch.randn(2, window_frames(encoder), 80), [CHUNK_SIZE] * 2
    clean = step(encoder, encoder.initial_state(2, 8), features, lengths)
    features[0, 3] = float("nan")
    dirty = step(encoder, encoder.initial_state(2, 8), features, lengths)
    assert torch.isnan(dirty[0]).any()
    torch.testing.assert_close(dirty[1], clean[1], rtol=0, atol=1e-6)


def small_state(capacity: int) -> EncoderState:
    shapes = ((4,), (4,), (4, 1, 1, capacity + 1, 1), (4, 1, 2, 5))
    counts = [torch.zeros(shape, dtype=torch.int64) for shape in shapes[:2]]
    return EncoderState(*counts, *(torch.zeros(shape) for shape in shapes[2:]))


def write(state: EncoderState, slot: int, frames: list[float], length: int) -> None:
    columns = torch.tensor(frames).view(1, 1, 1, -1, 1)
    cnn_cache = torch.zeros(1, 1, 2, 5)
    state.scatter(torch.tensor([slot]), LaneUpdate(torch.tensor([length]), columns, cnn_cache))


def visible(state: EncoderState, slot: int, length: int = 0, columns: int | None = None):
    """The frames that a step of four would see of the past, and of its own."""
    context = state.gather(torch.tensor([slot]), 4, columns)
    context.att_columns[..., -4:, :] = 99.0
    mask = context.key_mask(torch.tensor([length]))[0, 0, 0]
    return sorted(context.att_columns[0, 0, 0, mask, 0].tolist())


@given(
    capacity=st.integers(0, 9), lengths=st.lists(st.integers(0, 4), max_size=8), room=st.booleans()
)
def test_a_ring_holds_the_newest_frames_whatever_came_before(capacity, lengths, room):
    state, heard = small_state(capacity), []
    for length in lengths:
        new = [float(len(heard) + place + 1) for place in range(length)]
        write(state, 2, new + [-1.0] * (4 - length), length)
        heard += new
    columns = len(heard) if room else None
    kept = heard[-capacity:] if capacity else []
    assert visible(state, 2, columns=columns) == kept
    assert visible(state, 2, 3, columns) == [*kept, 99.0, 99.0, 99.0]
    assert visible(state, 1) == []


def test_a_row_that_is_reset_is_as_it_was_at_the_start() -> None:
    state = small_state(6)
    write(state, 3, [1.0, 2.0, 3.0, 4.0], 4)
    write(state, 1, [5.0, 6.0, 7.0, 8.0], 4)
    state.reset(torch.tensor([3]))
    assert (visible(state, 3), visible(state, 1)) == ([], [5.0, 6.0, 7.0, 8.0])
    assert not state.att_cache[3].any()


@pytest.mark.parametrize("heard", [1, 4, 6, 7, 20])
def test_no_trace_of_what_was_heard_outlives_a_reset(heard: int) -> None:
    state = small_state(6)
    for _ in range(heard):
        write(state, 3, [math.nan], 1)
    write(state, 3, [math.nan, math.nan], 1)
    state.reset(torch.tensor([1, 3]))
    assert not state.att_cache[3].any()
    state.reset(torch.tensor([], dtype=torch.int64))
