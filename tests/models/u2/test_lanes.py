"""Many streams in one batch must be what each of them is alone."""

from dataclasses import dataclass, field
from random import Random

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept_frames import frames_like
from torch import Tensor

from earshot.models.u2.encoder import Encoder
from earshot.models.u2.lanes import EncoderState

CHUNK_SIZE = 4
SETTINGS = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def window_frames(encoder: Encoder, chunk_size: int = CHUNK_SIZE) -> int:
    """How many feature frames a chunk needs."""
    return (chunk_size - 1) * encoder.subsampling_rate + encoder.right_context + 1


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
    outputs, lanes = encoder.forward_lanes(batch, lengths, state.gather(rows))
    state.scatter(rows, lanes)
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
        encoded, state = encoder.forward_lanes(batch, lengths, state)
        for lane, length in enumerate(lengths.tolist()):
            outputs[lane].append(encoded[lane, :length])
    for utterance, pieces in zip("AB", outputs, strict=True):
        expected = golden.arrays[f"stream_c{chunk_size}_l{left}_{utterance}"][0]
        assert_same(frames_like(torch.cat(pieces), expected, dim=0), expected)


@torch.no_grad()
def test_a_lane_without_frames_stands_still(tiny_model):
    encoder = tiny_model.encoder
    window = window_frames(encoder)
    torch.manual_seed(0)
    features = torch.randn(2, window, 80)
    full, none = torch.tensor([CHUNK_SIZE] * 2), torch.tensor([0, CHUNK_SIZE])
    _, before = encoder.forward_lanes(features, full, encoder.initial_state(2, 8))
    encoded, after = encoder.forward_lanes(features, none, before)
    assert torch.isfinite(encoded).all()
    lane = torch.tensor([0])
    for old, new in zip(before.gather(lane)._tensors(), after.gather(lane)._tensors(), strict=True):
        torch.testing.assert_close(new, old, rtol=0, atol=0)


@torch.no_grad()
def test_a_lane_that_never_began_stays_finite(tiny_model):
    encoder = tiny_model.encoder
    window = window_frames(encoder)
    state = encoder.initial_state(1, 8)
    encoded, after = encoder.forward_lanes(torch.zeros(1, window, 80), torch.tensor([0]), state)
    assert torch.isfinite(encoded).all()
    assert after.offset.tolist() == after.cache_length.tolist() == [0]


@torch.no_grad()
def test_lanes_leave_the_old_state_as_it_was(tiny_model):
    encoder = tiny_model.encoder
    state = encoder.initial_state(1, 8)
    torch.manual_seed(0)
    window = window_frames(encoder)
    encoder.forward_lanes(torch.randn(1, window, 80), torch.tensor([CHUNK_SIZE]), state)
    assert all(float(tensor.abs().sum()) == 0.0 for tensor in state._tensors())


@torch.no_grad()
def test_lanes_equal_single_streams_beyond_5000_positions(tiny_models):
    encoder = tiny_models["conformer"].encoder
    window = window_frames(encoder)
    torch.manual_seed(0)
    features = torch.randn(1, window, 80)
    state = encoder.initial_state(1, 8)
    state.offset[:] = 6_000
    _, state = encoder.forward_lanes(features, torch.tensor([CHUNK_SIZE]), state)
    lanes, _ = encoder.forward_lanes(features, torch.tensor([CHUNK_SIZE]), state)
    empty = torch.zeros(0, 0, 0, 0)
    _, att_cache, cnn_cache = encoder.forward_chunk(features, 6_000, 8, empty, empty)
    alone, _, _ = encoder.forward_chunk(features, 6_000 + CHUNK_SIZE, 8, att_cache, cnn_cache)
    torch.testing.assert_close(lanes, alone, rtol=0, atol=1e-5)


@torch.no_grad()
def test_nan_in_one_lane_stays_in_that_lane(tiny_model):
    encoder = tiny_model.encoder
    window = window_frames(encoder)
    torch.manual_seed(0)
    features = torch.randn(2, window, 80)
    lengths, state = torch.tensor([CHUNK_SIZE] * 2), encoder.initial_state(2, 8)
    clean, _ = encoder.forward_lanes(features, lengths, state)
    features[0, 3] = float("nan")
    dirty, _ = encoder.forward_lanes(features, lengths, state)
    assert torch.isnan(dirty[0]).any()
    torch.testing.assert_close(dirty[1], clean[1], rtol=0, atol=1e-6)


def test_lanes_are_gathered_with_the_columns_that_they_need() -> None:
    shapes = ((4,), (4,), (4, 1, 1, 10, 3), (4, 1, 2, 5))
    state = EncoderState(*(torch.zeros(shape) for shape in shapes))
    lanes = state.gather(torch.tensor([3, 1]), columns=4)
    assert lanes.att_cache.shape[:4] == (2, 1, 1, 4)
    lanes.offset += torch.tensor([30, 10])
    lanes.att_cache += torch.tensor([3.0, 1.0]).view(2, 1, 1, 1, 1)
    state.scatter(torch.tensor([3, 1]), lanes)
    assert state.offset.tolist() == [0, 10, 0, 30]
    assert state.att_cache[:, 0, 0, :, 0].sum(dim=1).tolist() == [0.0, 4.0, 0.0, 12.0]
    state.reset(torch.tensor([3]))
    assert state.offset.tolist() == [0, 10, 0, 0]
    assert not state.gather(torch.tensor([3])).att_cache.any()
