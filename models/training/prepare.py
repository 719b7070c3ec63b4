"""Everything a run needs before its first update: features, units, statistics, development set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from models.config import FeatureConfig
from models.subsampling import STEM_SHAPES
from models.tokenizer import BpeTokenizer, Tokenizer
from models.training.augment import Augmenter
from models.training.batch import BatchBuilder, pad
from models.training.cmvn import compute_cmvn
from models.training.config import Recipe
from models.training.corpus import Utterance, read_noise, read_speech
from models.training.feature_cache import FeatureCache, build_feature_cache
from models.training.greedy import greedy_error_rates
from models.training.sampler import Sampler
from models.training.synthesis import synthesise
from models.training.units import train_units
from models.u2 import U2Model

CMVN_STRIDE = 7  # every seventh utterance is plenty


@dataclass(frozen=True)
class Speech:
    """Utterances and their cached features, in the same order."""

    utterances: Sequence[Utterance]
    cache: FeatureCache


class JoinedCache(FeatureCache):
    """Several caches as one."""

    def __init__(self, caches: Sequence[FeatureCache]) -> None:
        self._places = [(cache, index) for cache in caches for index in range(len(cache))]
        self.paths = [path for cache in caches for path in cache.paths]

    def frame_count(self, index: int) -> int:
        cache, inner = self._places[index]
        return cache.frame_count(inner)

    def __getitem__(self, index: int):  # type: ignore[no-untyped-def]
        cache, inner = self._places[index]
        return cache[inner]


@dataclass(frozen=True)
class Prepared:
    """What the trainer works on."""

    sampler: Sampler
    builder: BatchBuilder
    tokenizer: Tokenizer
    mean: Tensor
    istd: Tensor
    dev: Speech
    dev_chunk_size: int

    def dev_errors(self, model: U2Model) -> dict[str, float]:
        """Word error rate by corpus of the development subset, CTC greedy, chunk by chunk."""
        return greedy_error_rates(model, self.tokenizer, self.dev.utterances, self.dev.cache, self.dev_chunk_size)


def load_speech(manifest: Path, name: str, recipe: Recipe) -> Speech:
    """Utterances of a manifest with their features, cached under the recipe's `work_dir` as `name`."""
    utterances = read_speech(manifest)
    return Speech(utterances, build_feature_cache(recipe.data.work_dir / name, utterances, FeatureConfig()))


def load_training_speech(recipe: Recipe) -> Speech:
    """The recorded training corpora and, if the recipe wants it, the synthetic one."""
    recorded = load_speech(recipe.data.train_manifest, "train", recipe)
    if recipe.data.synthetic_count == 0:
        return recorded
    manifest = synthesise(recipe.data.work_dir / "synthetic", recipe.data.synthetic_count, recipe.data.synthetic_seed)
    spoken = load_speech(manifest, "synthetic-features", recipe)
    return Speech([*recorded.utterances, *spoken.utterances], JoinedCache([recorded.cache, spoken.cache]))


def dev_subset(speech: Speech, count: int) -> Speech:
    """About `count` utterances, an equal share of every corpus, evenly spaced."""
    by_corpus: dict[str, list[int]] = defaultdict(list)
    for index, utterance in enumerate(speech.utterances):
        by_corpus[utterance.corpus].append(index)
    share = max(1, count // len(by_corpus))
    chosen = [i for indices in by_corpus.values() for i in indices[:: max(1, len(indices) // share)][:share]]
    cache = JoinedCache([speech.cache])
    cache._places = [(speech.cache, index) for index in chosen]
    return Speech([speech.utterances[index] for index in chosen], cache)


def prepare(recipe: Recipe) -> Prepared:
    """Builds or reopens features and units. Raises CorpusError if a recording is missing or broken."""
    speech = load_training_speech(recipe)
    units_dir = recipe.data.work_dir / "units"
    if not (units_dir / "units.txt").is_file():
        train_units([utterance.text for utterance in speech.utterances], recipe.units, units_dir)
    tokenizer = BpeTokenizer(units_dir / "bpe.model", units_dir / "units.txt")
    mean, istd = compute_cmvn(speech.cache[i] for i in range(0, len(speech.utterances), CMVN_STRIDE))
    noise = build_feature_cache(recipe.data.work_dir / "noise", read_noise(recipe.data.noise_manifest), FeatureConfig())
    stem = STEM_SHAPES[recipe.network.input_layer]
    builder = BatchBuilder(
        cache=speech.cache,
        utterances=speech.utterances,
        tokens=[tokenizer.encode(utterance.text) for utterance in speech.utterances],
        data=recipe.data,
        augmenter=Augmenter(recipe.augment, tuple(noise[i] for i in range(len(noise)))),
        mean=mean.numpy(),
        frames_needed=lambda frames: (frames + 1) * stem.rate + stem.right_context,
    )
    sampler = Sampler(speech.utterances, recipe.data, recipe.optimiser.batch_seconds, recipe.optimiser.seed)
    dev = dev_subset(load_speech(recipe.data.dev_manifest, "dev", recipe), recipe.checkpoints.dev_utterances)
    return Prepared(sampler, builder, tokenizer, mean, istd, dev, recipe.network.chunk_size)
