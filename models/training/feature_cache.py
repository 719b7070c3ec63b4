"""Features of a whole corpus in one memory-mapped file: an epoch costs no decoding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import torch
from tqdm import tqdm

from models.config import FeatureConfig
from models.fbank import Fbank
from models.training.corpus import Utterance
from models.training.errors import CorpusError

INT16_SCALE = 32768.0
Features = npt.NDArray[np.float32]


def read_samples(path: Path, sample_rate_hz: int) -> torch.Tensor:
    """Mono samples of an audio file `(N,)`, float32 in int16 range.

    Raises CorpusError if it cannot be read or is at another rate.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from error
    if rate != sample_rate_hz:
        raise CorpusError(f"{path} is at {rate} Hz, not {sample_rate_hz} Hz")
    return torch.from_numpy(samples.mean(axis=1) * INT16_SCALE)


class FeatureCache:
    """Random access to the cached features of a list of utterances."""

    def __init__(self, folder: Path) -> None:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        self.paths: list[str] = index["paths"]
        self._starts = np.concatenate(([0], np.cumsum(index["frames"]))).astype(np.int64)
        shape = (int(self._starts[-1]), int(index["num_mel_bins"]))
        self._frames = np.memmap(folder / "frames.f16", dtype=np.float16, mode="r", shape=shape)

    def __len__(self) -> int:
        return len(self.paths)

    def frame_count(self, index: int) -> int:
        """Frames of utterance `index`."""
        return int(self._starts[index + 1] - self._starts[index])

    def __getitem__(self, index: int) -> Features:
        """Features `(T, num_mel_bins)` of utterance `index`, a fresh float32 array."""
        return self._frames[self._starts[index] : self._starts[index + 1]].astype(np.float32)


def build_feature_cache(
    folder: Path, utterances: Sequence[Utterance], config: FeatureConfig
) -> FeatureCache:
    """Opens the cache in `folder` if it holds exactly these utterances, else computes it."""
    paths = [str(utterance.path) for utterance in utterances]
    index_path = folder / "index.json"
    if index_path.is_file():
        cache = FeatureCache(folder)
        if cache.paths == paths:
            return cache
    folder.mkdir(parents=True, exist_ok=True)
    index_path.unlink(missing_ok=True)
    fbank = Fbank(config)
    frames: list[int] = []
    with (folder / "frames.f16").open("wb") as output:
        for utterance in tqdm(utterances, desc=f"features {folder.name}", unit="file"):
            features = fbank(read_samples(utterance.path, config.sample_rate_hz))
            output.write(features.numpy().astype(np.float16).tobytes())
            frames.append(len(features))
    index = {"paths": paths, "frames": frames, "num_mel_bins": config.num_mel_bins}
    index_path.write_text(json.dumps(index), encoding="utf-8")
    return FeatureCache(folder)
