"""Cached samples: what they are, and when recordings are decoded anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from earshot.models.config import FeatureConfig
from earshot.training.corpus.utterance import Utterance
from earshot.training.data.audio_cache import build_audio_cache
from earshot.training.data.feature_cache import build_feature_cache


def record(folder: Path, *samples: int) -> Utterance:
    path = folder / f"{len(samples)}.wav"
    soundfile.write(path, np.array(samples, dtype=np.int16), 16_000)
    return Utterance(path, "books", "reader", len(samples) / 16_000, "text")


@pytest.fixture
def utterances(tmp_path: Path) -> list[Utterance]:
    return [record(tmp_path, 1, -2, 3), record(tmp_path, *[32767, -32768] * 300)]


def test_samples_are_those_of_the_files(utterances: list[Utterance], tmp_path: Path) -> None:
    cache = build_audio_cache(tmp_path / "cache", utterances, FeatureConfig())
    assert cache.rows(0).tolist() == [1, -2, 3]
    assert cache.starts.tolist() == [0, 3, 603]
    assert [cache.frame_count(index) for index in range(2)] == [0, 2]
    assert cache[1].shape == (2, 80)
    assert cache.samples(torch.device("cpu"))[:4].tolist() == [1, -2, 3, 32767]


def test_the_same_list_is_not_decoded_again(utterances: list[Utterance], tmp_path: Path) -> None:
    first = build_audio_cache(tmp_path / "cache", utterances, FeatureConfig())
    before = first.file.stat().st_mtime_ns
    build_audio_cache(tmp_path / "cache", utterances, FeatureConfig())
    assert first.file.stat().st_mtime_ns == before


def test_features_and_samples_do_not_pass_for_each_other(
    utterances: list[Utterance], tmp_path: Path
) -> None:
    build_audio_cache(tmp_path / "cache", utterances, FeatureConfig())
    features = build_feature_cache(tmp_path / "cache", utterances, FeatureConfig())
    assert features[1].shape == (2, 80)


def test_no_recordings_are_no_samples(tmp_path: Path) -> None:
    cache = build_audio_cache(tmp_path / "cache", [], FeatureConfig())
    assert cache.samples(torch.device("cpu")).shape == (0,)
