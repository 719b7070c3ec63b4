import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from earshot.models.features.kaldi_fbank import Fbank
from earshot.models.features.nemo_mel import NemoMel
from earshot.streaming.stream.features import (
    FeatureTrack,
    SampleBuffer,
    compute_frames,
)

FBANK = Fbank()
CENTRED = NemoMel()


def track_of(samples, kept_frames=10_000) -> FeatureTrack:
    track = FeatureTrack(FBANK, 0, kept_frames)
    track.append(samples)
    return track


def compute(tracks, frames) -> None:
    raw = [track.missing(frames) for track in tracks]
    for track, features in zip(tracks, compute_frames(FBANK, raw), strict=True):
        track.store(features)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 2000), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_features_equal_those_of_the_whole_however_it_is_cut(sizes, seed):
    random = np.random.default_rng(seed)
    pieces = [random.normal(0, 0.1, size).astype(np.float32) for size in sizes]
    track = FeatureTrack(FBANK, 0, kept_frames=10_000)
    for piece in pieces:
        track.append(piece)
        if random.random() < 0.5:
            compute([track], int(random.integers(0, track.available + 1)))
    compute([track], track.available)
    whole = FBANK(torch.from_numpy(np.concatenate(pieces)) * 32768)
    assert track.available == len(whole)
    if len(whole):
        assert torch.equal(track.window(0, len(whole), 0), whole)


def test_features_do_not_depend_on_who_shares_the_batch():
    random = np.random.default_rng(0)
    samples = [random.normal(0, 0.1, size).astype(np.float32) for size in (4000, 560, 9999)]
    alone = [track_of(s) for s in samples]
    for track in alone:
        compute([track], track.available)
    together = [track_of(s) for s in samples]
    features = compute_frames(FBANK, [track.missing(track.available) for track in together])
    for track, batched in zip(alone, features, strict=True):
        assert torch.equal(track.window(0, track.available, 0), batched)


def test_golden_features_come_out(golden_dir, assert_same):
    golden = np.load(golden_dir / "features.npz")
    track = track_of(golden["pcm_noise"].astype(np.float32) / 32768)
    compute([track], track.available)
    # As amplitudes: the logarithm of a weak bin moves more than what rounds in the strong ones.
    amplitudes = (track.window(0, track.available, 0) / 2).exp()
    assert_same(amplitudes, np.exp(golden["fbank_noise"] / 2), rtol=1e-5)


def test_a_flush_repeats_the_quietest_frame_of_the_segment():
    random = np.random.default_rng(0)
    volumes = [0.001, 0.1, 0.01, 0.2]
    samples = np.concatenate([random.normal(0, v, 1600) for v in volumes]).astype(np.float32)
    track = track_of(samples)
    heard = track.available
    track.end(5)
    compute([track], track.available)
    window = track.window(heard - 2, 7, segment_start=10)
    assert track.available == heard + 5
    assert torch.equal(window[2:], window[2].expand(5, -1))
    energies = track.window(10, heard - 10, 10).logsumexp(dim=1)
    assert window[2].logsumexp(dim=0) == energies.min()


def test_a_flush_of_nothing_has_no_frames():
    track = track_of(np.zeros(399, np.float32))
    track.end(10)
    assert track.available == 0


def test_a_flush_may_be_followed_by_digital_silence():
    track = FeatureTrack(FBANK, 0, 1000, flush_frame=FBANK.silence)
    track.append(np.random.default_rng(0).normal(0, 0.1, 1600).astype(np.float32))
    heard = track.available
    track.end(3)
    compute([track], track.available)
    window = track.window(heard - 1, 4, segment_start=0)
    zeros = FBANK(torch.zeros(2, FBANK.frame_length))[:, 0]
    torch.testing.assert_close(window[1:], zeros[:1].expand(3, -1))
    assert window[0].logsumexp(dim=0) > window[1].logsumexp(dim=0) + 5


def test_a_lead_in_is_digital_silence_before_the_audio():
    samples = np.random.default_rng(0).normal(0, 0.1, 4000).astype(np.float32)
    track = FeatureTrack(FBANK, 8000, 1000, lead_in=20)
    track.append(samples)
    assert (track.start, track.origin, track.num_samples) == (8000, 8000 - 3200, 3200 + 4000)
    compute([track], track.available)
    plain = track_of(np.concatenate((np.zeros(3200, np.float32), samples)))
    compute([plain], plain.available)
    assert track.available == plain.available
    assert torch.equal(track.window(0, track.available, 0), plain.window(0, plain.available, 0))


@pytest.mark.parametrize("count", [0, 399])
def test_a_lead_in_without_audio_has_no_frames(count):
    track = FeatureTrack(FBANK, 0, 1000, lead_in=20)
    track.append(np.zeros(count, np.float32))
    track.end(10)
    assert track.available == 0
    assert track.origin + track.consumed_samples <= 0


def test_the_quietest_frame_of_a_flush_is_one_that_was_heard():
    track = FeatureTrack(FBANK, 0, 1000, lead_in=20)
    track.append(np.random.default_rng(0).normal(0, 0.1, 1600).astype(np.float32))
    heard = track.available
    track.end(2)
    compute([track], track.available)
    energies = track.window(20, heard - 20, 20).logsumexp(dim=1)
    assert track.window(heard, 2, 0).logsumexp(dim=1).tolist() == [energies.min()] * 2


def test_only_the_kept_frames_stay_in_memory():
    track = FeatureTrack(FBANK, 0, kept_frames=50)
    for _ in range(20):
        track.append(np.zeros(16000, np.float32))
        compute([track], track.available)
        assert track.kept <= 50
        assert track._samples.end - track._samples._start <= 16000 + 400
    assert track.computed == track.available == 1 + (20 * 16000 - 400) // 160
    with pytest.raises(AssertionError, match="dropped"):
        track.window(0, 10, 0)


def test_a_sample_buffer_reads_across_its_pieces():
    buffer = SampleBuffer()
    for start in range(0, 100, 10):
        buffer.append(np.arange(start, start + 10, dtype=np.float32))
    assert buffer.read(15, 37).tolist() == list(range(15, 37))
    buffer.drop_before(35)
    assert buffer.read(35, 100).tolist() == list(range(35, 100))
    assert buffer.end == 100


def centred_frames(pieces, cuts, lead_in=0) -> torch.Tensor:
    """Frames of a track whose extractor centres them, computed as `cuts` (in frames) say."""
    track = FeatureTrack(CENTRED, lead_in * 160, 10_000, lead_in)
    for piece, cut in zip(pieces, cuts, strict=True):
        track.append(piece)
        wanted = min(cut, track.available)
        track.store(compute_frames(CENTRED, [track.missing(wanted)])[0])
    track.end(0)
    track.store(compute_frames(CENTRED, [track.missing(track.available)])[0])
    return track.window(0, track.available, 0)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 700), st.integers(0, 40)), min_size=1, max_size=9))
def test_centred_frames_equal_those_of_the_whole_however_it_is_cut(drawn):
    random = np.random.default_rng(len(drawn))
    pieces = [random.normal(0, 0.1, size).astype(np.float32) for size, _ in drawn]
    whole = CENTRED(torch.from_numpy(np.concatenate(pieces)))
    assert torch.equal(centred_frames(pieces, [cut for _, cut in drawn]), whole)


def test_centred_frames_have_a_lead_in_too():
    samples = np.random.default_rng(0).normal(0, 0.1, 4000).astype(np.float32)
    whole = CENTRED(torch.from_numpy(np.concatenate((np.zeros(320, np.float32), samples))))
    assert torch.equal(centred_frames([samples], [9], lead_in=2), whole)


def test_samples_of_centred_frames_are_counted_without_what_the_track_adds():
    track = FeatureTrack(CENTRED, 0, 1000)
    track.append(np.zeros(1000, np.float32))
    assert (track.num_samples, track.available) == (1000, 1 + (1000 - 200) // 160)
    assert track.samples_for(track.available) <= 1000 < track.samples_for(track.available + 1)
    track.store(compute_frames(CENTRED, [track.missing(track.available)])[0])
    assert track.consumed_samples == track.available * 160 - 201
    track.end(0)
    assert (track.num_samples, track.available) == (1000, 1000 // 160)
