"""Cached features: what they are, and when they are made anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from earshot.models.config import FeatureConfig
from earshot.models.features.kaldi_fbank import Fbank
from earshot.training.corpus.utterance import Utterance
from earshot.training.data import feature_cache
from earshot.training.data.feature_cache import build_feature_cache
from earshot.training.errors import CorpusError
from earshot.training.files.audio_file import read_samples


def record(folder: Path, name: str, num_samples: int, rate_hz: int = 16_000) -> Utterance:
    samples = np.random.default_rng(num_samples).normal(0.0, 0.1, num_samples)
    soundfile.write(folder / name, samples, rate_hz, subtype="PCM_16")
    return Utterance(folder / name, "noise", "none", num_samples / rate_hz, "text")


@pytest.fixture
def utterances(tmp_path: Path) -> list[Utterance]:
    return [record(tmp_path, f"{count}.wav", count) for count in (8000, 300, 16_000)]


def test_cached_features_are_those_of_the_audio(
    utterances: list[Utterance], tmp_path: Path
) -> None:
    cache = build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    assert [cache.frame_count(index) for index in range(len(cache))] == [48, 0, 98]
    samples, _ = soundfile.read(utterances[2].path, dtype="int16")
    expected = Fbank()(torch.from_numpy(samples.astype(np.float32)))
    np.testing.assert_allclose(cache[2], expected.numpy(), rtol=1e-3, atol=1e-3)


def times_read(
    monkeypatch: pytest.MonkeyPatch, folder: Path, utterances: list[Utterance]
) -> list[Path]:
    """The recordings that opening the cache in `folder` decodes."""
    read: list[Path] = []

    def note(path: Path, sample_rate_hz: int) -> torch.Tensor:
        read.append(path)
        return read_samples(path, sample_rate_hz)

    monkeypatch.setattr(feature_cache, "read_samples", note)
    build_feature_cache(folder, utterances, FeatureConfig())
    return read


def test_the_same_list_is_not_decoded_again(
    utterances: list[Utterance], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    assert times_read(monkeypatch, tmp_path / "cache", utterances) == []


def test_what_was_recorded_again_under_its_old_name_is_decoded(
    utterances: list[Utterance], tmp_path: Path
) -> None:
    before = build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())[2]
    soundfile.write(utterances[2].path, np.full(16_000, 0.5), 16_000, subtype="PCM_16")
    cache = build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    assert cache.frame_count(2) == len(before)
    assert not np.array_equal(cache[2], before)


@pytest.mark.parametrize("index", [b"", b"{}", b"[1]", b"\xff", b'{"lengths": 3}'])
def test_a_broken_index_is_made_anew(
    utterances: list[Utterance], tmp_path: Path, index: bytes
) -> None:
    build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    (tmp_path / "cache" / "index.json").write_bytes(index)
    assert build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())[2].any()


def test_rows_that_were_cut_are_made_anew(utterances: list[Utterance], tmp_path: Path) -> None:
    first = build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())[2]
    rows = tmp_path / "cache" / "rows.bin"
    rows.write_bytes(rows.read_bytes()[:-100])
    again = build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    np.testing.assert_array_equal(again[2], first)


def test_a_recording_that_is_gone_is_named(utterances: list[Utterance], tmp_path: Path) -> None:
    build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    utterances[0].path.unlink()
    with pytest.raises(CorpusError, match=r"8000\.wav"):
        build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())


def test_another_list_is(utterances: list[Utterance], tmp_path: Path) -> None:
    build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    cache = build_feature_cache(tmp_path / "cache", utterances[2:], FeatureConfig())
    assert [cache.frame_count(index) for index in range(len(cache))] == [98]


def test_a_broken_recording_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.wav").write_bytes(b"not audio at all")
    broken = Utterance(tmp_path / "broken.wav", "noise", "none", 1.0, "text")
    with pytest.raises(CorpusError, match=r"broken\.wav"):
        build_feature_cache(tmp_path / "cache", [broken], FeatureConfig())


def test_another_sample_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="8000 Hz"):
        build_feature_cache(
            tmp_path / "cache", [record(tmp_path, "slow.wav", 8000, 8000)], FeatureConfig()
        )


@pytest.mark.parametrize(
    ("samples", "complaint"),
    [
        ([0.1, np.nan] * 400, "no finite numbers"),
        ([1e30, -1e30] * 400, "too loud"),
        ([], "is empty"),
    ],
)
def test_a_recording_without_sound_in_it_is_refused(
    tmp_path: Path, samples: list[float], complaint: str
) -> None:
    path = tmp_path / "odd.wav"
    soundfile.write(path, np.array(samples, dtype=np.float32), 16_000, subtype="FLOAT")
    with pytest.raises(CorpusError, match=rf"odd\.wav .*{complaint}"):
        build_feature_cache(
            tmp_path / "cache", [Utterance(path, "noise", "none", 1.0, "text")], FeatureConfig()
        )


def test_faster_recordings_are_shorter_by_as_much(
    utterances: list[Utterance], tmp_path: Path
) -> None:
    cache = build_feature_cache(tmp_path / "cache", utterances, FeatureConfig(), speed=1.25)
    assert cache.frame_count(2) == Fbank().frame_count(16_000 * 4 // 5)
