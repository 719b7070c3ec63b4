"""NeMo's features: the same however the sound is cut. Against NeMo's own: test_golden_encoder."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from earshot.models.config import FeatureConfig
from earshot.models.features.feature_kinds import build_features
from earshot.models.features.kaldi_fbank import Fbank
from earshot.models.features.nemo_mel import NemoMel
from earshot.models.features.whisper_fbank import WhisperFbank

MEL = NemoMel()


def noise(*shape: int, seed: int = 0) -> Tensor:
    return 0.1 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def raw_frames(samples: Tensor) -> Tensor:
    """The samples of each frame of a signal (N,): (T, 401)."""
    count = MEL.frame_count(len(samples))
    after = MEL.silence_after(samples[-1], MEL.after)
    around = torch.cat((torch.zeros(MEL.before), samples, after))
    return around.unfold(0, MEL.frame_length, MEL.frame_shift)[:count]


@given(length=st.integers(160, 4000), cut=st.integers(1, 24))
def test_frames_are_the_same_bits_however_they_are_cut(length: int, cut: int) -> None:
    samples = noise(length)
    pieces = [MEL.of_frames(frames) for frames in torch.split(raw_frames(samples), cut)]
    assert torch.equal(torch.cat(pieces), MEL(samples))


def test_frames_are_the_same_bits_in_any_company() -> None:
    raw = noise(100, MEL.frame_length)
    together = MEL.of_frames(raw)
    for count in range(1, len(raw)):
        assert torch.equal(MEL.of_frames(raw[:count]), together[:count]), f"{count} frames"


@given(place=st.integers(0, 3999))
def test_a_frame_depends_on_its_own_samples_only(place: int) -> None:
    samples = noise(4000)
    changed = samples.clone()
    changed[place] += 1.0
    moved = (MEL(changed) != MEL(samples)).any(dim=1).nonzero().flatten().tolist()
    own = [i for i in range(25) if -MEL.before <= place - 160 * i < MEL.after]
    assert set(moved) <= set(own)
    # The window is zero at both its ends.
    inner = [i for i in own if -MEL.before + 2 <= place - 160 * i < MEL.after - 1]
    assert set(inner) <= set(moved)


@pytest.mark.parametrize(
    ("num_samples", "frames"), [(0, 0), (1, 0), (159, 0), (160, 1), (319, 1), (320, 2)]
)
def test_a_frame_for_every_160_samples(num_samples: int, frames: int) -> None:
    assert MEL.frame_count(num_samples) == frames
    assert MEL(torch.zeros(3, num_samples)).shape == (3, frames, 80)


@given(lengths=st.lists(st.integers(160, 900), min_size=1, max_size=3))
def test_a_row_of_a_batch_is_as_alone(lengths: list[int]) -> None:
    rows = [noise(length, seed=length) for length in lengths]
    longest = max(lengths)
    batch = torch.stack([functional.pad(row, (0, longest - len(row)), value=9.0) for row in rows])
    found = MEL(batch, torch.tensor(lengths))
    for features, row in zip(found, rows, strict=True):
        assert torch.equal(features[: MEL.frame_count(len(row))], MEL(row))


def test_the_first_sample_is_kept_by_the_emphasis() -> None:
    """So a click there is heard as it is; the next sample would hear it weakened, inverted."""
    click = functional.pad(torch.tensor([0.5]), (0, 159))
    spectrum = (
        torch.fft.rfft(torch.tensor([0.5, -0.97 * 0.5]) * MEL.window[200:202], n=512).abs().square()
    )
    expected = (spectrum @ MEL.filters + 2.0**-24).log()
    torch.testing.assert_close(MEL(click)[0], expected, rtol=0, atol=1e-5)


def test_nothing_is_heard_of_what_stands_for_silence_after_the_end() -> None:
    samples = noise(1000)
    longer = torch.cat((samples, MEL.silence_after(samples[-1], 800)))
    count = MEL.frame_count(1000)
    assert torch.equal(MEL(longer)[:count], MEL(samples))
    assert torch.equal(MEL(longer)[-1], MEL.silence)


def test_silence_is_the_logarithm_of_the_offset() -> None:
    assert torch.equal(MEL(torch.zeros(800)), torch.full((5, 80), 2.0**-24).log())
    assert torch.equal(MEL.silence, torch.full((80,), 2.0**-24).log())


def test_ten_times_the_amplitude_is_the_logarithm_of_a_hundred() -> None:
    raw = noise(5, MEL.frame_length)
    quiet = (MEL.of_frames(raw).exp() - 2.0**-24).log()
    loud = (MEL.of_frames(10 * raw).exp() - 2.0**-24).log()
    torch.testing.assert_close(loud, quiet + math.log(100.0), rtol=0, atol=1e-3)


def test_integers_give_the_features_of_their_amplitudes() -> None:
    samples = noise(2000)
    assert torch.equal(MEL.of_int16(samples * 32768.0), MEL(samples))


def test_the_quietest_frame_has_the_least_energy() -> None:
    raw = noise(9, MEL.frame_length)
    raw[4] *= 0.1
    features = MEL.of_frames(raw)
    assert torch.equal(MEL.quietest(features), features[4])


@pytest.mark.parametrize(
    ("kind", "extractor", "around"),
    [
        ("kaldi", Fbank, (0, 400)),
        ("whisper", WhisperFbank, (0, 400)),
        ("nemo", NemoMel, (201, 200)),
    ],
)
def test_each_kind_says_which_samples_a_frame_needs(
    kind: str, extractor: type, around: tuple[int, int]
) -> None:
    built = build_features(FeatureConfig(kind=kind))
    assert type(built) is extractor
    assert (built.before, built.after) == around
    assert built.frame_length == sum(around)


def test_the_window_is_symmetric() -> None:
    torch.testing.assert_close(MEL.window, MEL.window.flip(0), rtol=0, atol=1e-6)


def test_a_checkpoint_holds_window_and_filters() -> None:
    shapes = {name: tuple(value.shape) for name, value in MEL.state_dict().items()}
    assert shapes == {"window": (400,), "filters": (257, 80)}


def test_window_and_filters_of_a_checkpoint_are_those_that_count() -> None:
    mel, raw = NemoMel(), noise(3, MEL.frame_length)
    mel.load_state_dict({"window": 2.0 * MEL.window, "filters": 3.0 * MEL.filters})
    energies, own = (each.of_frames(raw).exp() - 2.0**-24 for each in (mel, MEL))
    torch.testing.assert_close(energies, 12.0 * own, rtol=1e-4, atol=1e-5)
