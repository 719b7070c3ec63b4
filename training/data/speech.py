"""Utterances together with their features."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from earshot.language.text.transcript_text import ENGLISH
from earshot.models.config import FeatureConfig
from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import is_put_aside, refuse_corpora
from earshot.training.corpus.utterance import Utterance
from earshot.training.data.audio_cache import build_audio_cache
from earshot.training.data.augment import Features
from earshot.training.data.feature_cache import build_feature_cache
from earshot.training.errors import CorpusError
from earshot.training.recipe.config import DataConfig
from earshot.training.synthetic.digits import synthesise

KALDI = FeatureConfig()


class Recordings(Protocol):
    """Features by number, whether they are kept or computed when asked for."""

    def frame_count(self, index: int) -> int:
        """Frames of recording `index`."""
        ...

    def __getitem__(self, index: int) -> Features:
        """Features `(T, F)` of recording `index`, a fresh array."""
        ...


@dataclass(frozen=True)
class Source:
    """Where one utterance is."""

    cache: Recordings
    index: int


@dataclass(frozen=True)
class Speech:
    """Utterances, and for each where its features are, in the same order."""

    utterances: Sequence[Utterance]
    sources: Sequence[Source]

    def __len__(self) -> int:
        return len(self.utterances)

    def __add__(self, other: Speech) -> Speech:
        return Speech([*self.utterances, *other.utterances], [*self.sources, *other.sources])

    def frame_count(self, index: int) -> int:
        """Feature frames of utterance `index`."""
        source = self.sources[index]
        return source.cache.frame_count(source.index)

    def features(self, index: int) -> Features:
        """Features `(T, F)` of utterance `index`, a fresh array."""
        source = self.sources[index]
        return source.cache[source.index]

    def select(self, indices: Sequence[int]) -> Speech:
        """Some of the utterances."""
        return Speech([self.utterances[i] for i in indices], [self.sources[i] for i in indices])

    def transcribed(self) -> Speech:
        """Without the utterances whose text is unknown."""
        return self.select([i for i, utterance in enumerate(self.utterances) if utterance.text])

    def subset(self, count: int) -> Speech:
        """About `count` utterances: an equal number of every corpus, evenly spaced."""
        by_corpus: dict[str, list[int]] = defaultdict(list)
        for index, utterance in enumerate(self.utterances):
            by_corpus[utterance.corpus].append(index)
        share = max(1, count // max(1, len(by_corpus)))
        chosen = [
            index
            for indices in by_corpus.values()
            for index in indices[:: max(1, len(indices) // share)][:share]
        ]
        return self.select(chosen)


def load_speech(
    manifest: Path,
    cache_dir: Path,
    as_audio: bool = False,
    speed: float = 1.0,
    features: FeatureConfig = KALDI,
    untranscribed: bool = False,
    language: str = ENGLISH,
) -> Speech:
    """Utterances of a manifest, their features or samples cached in `cache_dir`.

    Features are of the recordings played `speed` times as fast. Without `untranscribed` only
    utterances whose text is known. Raises CorpusError if the manifest or a recording is missing or
    broken.
    """
    utterances = read_speech(manifest, language)
    cache: Recordings
    if as_audio:
        cache = build_audio_cache(cache_dir, utterances, features)
    else:
        cache = build_feature_cache(cache_dir, utterances, features, speed)
    sources = [Source(cache, index) for index in range(len(utterances))]
    speech = Speech(utterances, sources)
    return speech if untranscribed else speech.transcribed()


def training_utterances(
    data: DataConfig, untranscribed: Sequence[Path] = (), language: str = ENGLISH
) -> list[Utterance]:
    """The utterances of all training manifests. Raises like `load_training_speech`."""
    paths = (*_training_manifests(data).values(), *untranscribed)
    found = [each for path in paths for each in read_speech(path, language)]
    named = {each.corpus for each in found}
    refuse_corpora(named)
    data.require_corpora(named)
    return found


def load_training_speech(
    data: DataConfig,
    as_audio: bool = False,
    features: FeatureConfig = KALDI,
    untranscribed: Sequence[Path] = (),
    language: str = ENGLISH,
) -> Speech:
    """The training corpora of all manifests and, where the recipe wants it, synthetic digits.

    untranscribed: manifests of recordings that are heard though nobody knows what they say.
    Raises CorpusError like `load_speech`, for recordings without a frame, and for corpora that are
    put aside; RecipeError for corpora that the recipe names and no manifest has.
    """
    manifests = _training_manifests(data)
    unknown = {f"untranscribed-{number}": path for number, path in enumerate(untranscribed)}
    training_utterances(data, untranscribed, language)  # before hours of sound are decoded
    kind = "-audio" if as_audio else _suffix_of(features)
    load = partial(
        _load_all,
        work_dir=data.work_dir,
        kind=kind,
        as_audio=as_audio,
        features=features,
        language=language,
    )
    return load(manifests) + load(unknown, untranscribed=True)


def load_sped_speech(data: DataConfig, language: str = ENGLISH) -> list[Speech]:
    """The same utterances in the same order at each of the recipe's speeds, 1.0 left out.

    Raises CorpusError like `load_training_speech`.
    """
    manifests = _training_manifests(data)
    return [
        _load_all(manifests, data.work_dir, f"-{speed:g}", speed=speed, language=language)
        for speed in data.speeds
        if speed != 1.0
    ]


def _load_all(
    manifests: Mapping[str, Path],
    work_dir: Path,
    kind: str,
    as_audio: bool = False,
    speed: float = 1.0,
    features: FeatureConfig = KALDI,
    untranscribed: bool = False,
    language: str = ENGLISH,
) -> Speech:
    speech = Speech([], [])
    for name, manifest in manifests.items():
        folder = work_dir / f"{name}{kind}"
        speech += load_speech(manifest, folder, as_audio, speed, features, untranscribed, language)
    for index, utterance in enumerate(speech.utterances):
        if not speech.frame_count(index):
            raise CorpusError(f"{utterance.path} is too short: it has no frame")
    return speech


def _training_manifests(data: DataConfig) -> dict[str, Path]:
    """Manifests by the names of their caches. Synthetic digits are made, if they are not there."""
    more = {f"train-{number}": path for number, path in enumerate(data.more_manifests, start=2)}
    manifests = {"train": data.train_manifest, **more}
    if data.synthetic_count:
        folder = data.work_dir / "synthetic"
        made = synthesise(folder, data.synthetic_count, data.synthetic_seed)
        manifests["synthetic-features"] = made
    return manifests


def _suffix_of(features: FeatureConfig) -> str:
    """A folder's suffix for features: one for each configuration, none for the default."""
    return "" if features == KALDI else "".join(f"-{each}" for each in asdict(features).values())


def load_dev_speech(
    data: DataConfig,
    aside: bool = False,
    features: FeatureConfig = KALDI,
    language: str = ENGLISH,
) -> Speech:
    """The development recordings to look at; with `aside` only those that are put aside.

    None of their speakers of known name is in training.
    """
    folder = data.work_dir / f"dev{_suffix_of(features)}"
    speech = load_speech(data.dev_manifest, folder, features=features, language=language)
    return speech.select(
        [i for i, each in enumerate(speech.utterances) if is_put_aside(each) == aside]
    )
