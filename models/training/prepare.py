"""Everything a run needs before its first update: features, units, statistics, development set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from models.config import FeatureConfig
from models.subsampling import STEM_SHAPES
from models.tokenizer import BpeTokenizer, Tokenizer
from models.training.augment import Augmenter, Features
from models.training.batch import BatchBuilder
from models.training.cmvn import compute_cmvn
from models.training.config import Recipe
from models.training.corpus import read_noise
from models.training.feature_cache import build_feature_cache
from models.training.greedy import greedy_error_rates
from models.training.sampler import Sampler
from models.training.speech import Speech, load_dev_speech, load_training_speech
from models.training.units import train_units
from models.u2 import U2Model

CMVN_STRIDE = 7  # every seventh utterance is plenty


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
        return greedy_error_rates(model, self.tokenizer, self.dev, self.dev_chunk_size)


def load_units(recipe: Recipe, speech: Speech) -> BpeTokenizer:
    """The run's units, made from the transcripts the first time."""
    folder = recipe.data.work_dir / "units"
    if not (folder / "units.txt").is_file():
        train_units([utterance.text for utterance in speech.utterances], recipe.units, folder)
    return BpeTokenizer(folder / "bpe.model", folder / "units.txt")


def load_noises(manifest: Path, cache_dir: Path) -> tuple[Features, ...]:
    """Features of all noise recordings."""
    cache = build_feature_cache(cache_dir, read_noise(manifest), FeatureConfig())
    return tuple(cache[index] for index in range(len(cache)))


def prepare(recipe: Recipe) -> Prepared:
    """Builds or reopens features and units. Raises CorpusError for a recording that is missing."""
    data = recipe.data
    speech = load_training_speech(data)
    tokenizer = load_units(recipe, speech)
    mean, istd = compute_cmvn(speech.features(i) for i in range(0, len(speech), CMVN_STRIDE))
    builder = BatchBuilder(
        speech=speech,
        tokens=[tokenizer.encode(utterance.text) for utterance in speech.utterances],
        data=data,
        augmenter=Augmenter(
            recipe.augment, load_noises(data.noise_manifest, data.work_dir / "noise")
        ),
        mean=mean.numpy(),
        stem=STEM_SHAPES[recipe.network.input_layer],
    )
    sampler = Sampler(
        speech.utterances,
        data,
        batch_seconds=recipe.optimiser.batch_seconds,
        first_batch_seconds=recipe.optimiser.first_batch_seconds,
        padding_seconds=recipe.augment.pad_seconds / 2,
        seed=recipe.optimiser.seed,
    )
    dev = load_dev_speech(data).subset(recipe.checkpoints.dev_utterances)
    return Prepared(sampler, builder, tokenizer, mean, istd, dev, recipe.network.chunk_size)
