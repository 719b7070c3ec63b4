"""The teacher of a recipe, its frames on disk, and what is made of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from earshot.models.features.feature_kinds import build_features
from earshot.training.data.lead import Leads
from earshot.training.data.speech import Speech
from earshot.training.data.speed import sped_length
from earshot.training.distil.kept_frames import KeptFrames
from earshot.training.distil.targets import Targets
from earshot.training.distil.teacher import Teacher, load_teacher
from earshot.training.errors import RecipeError
from earshot.training.recipe.config import Recipe
from earshot.training.recipe.distil_config import DistilConfig
from earshot.training.recipe.recipe_model import feature_config
from earshot.training.waveform.clips import Clips

BYTES = 2  # of a number in half precision


@dataclass(frozen=True)
class Kept:
    """Recordings whose frames are kept, by their numbers, and of what length they are."""

    indices: Sequence[int]
    speech: Speech
    clips: Clips

    def samples(self, index: int, speed: float, leads: Leads) -> int:
        """Samples of a recording at a speed, with the silence before it."""
        _, start, stop = self.clips.places[index]
        return leads.samples(self.speech.utterances[index], speed) + sped_length(
            stop - start, speed
        )


def build_teacher(recipe: Recipe, config: DistilConfig, device: torch.device) -> Teacher:
    """The recipe's teacher on `device`. Raises ModelError, RecipeError for another's features."""
    assert recipe.teacher is not None
    extractor = build_features(feature_config(recipe))
    teacher = load_teacher(
        recipe.teacher,
        extractor,
        config.teacher_pad_seconds,
        config.tail_seconds,
        device,
        recipe.optimiser.precision == "bfloat16",
    )
    if teacher.encoder.config.input_dim != extractor.size:
        raise RecipeError("distil.whisper: the teacher hears other features than the student")
    return teacher


def build_targets(
    recipe: Recipe, speech: Speech, clips: Clips, leads: Leads, teacher: Teacher
) -> Targets:
    """The teacher, with its frames of what the recipe draws at every speed where it keeps them.

    Raises RecipeError if they take more room than it allows, CorpusError if the disk has less.
    """
    config = recipe.distil
    assert config is not None
    assert recipe.waveform is not None
    indices = _drawn(recipe, speech) if config.keep_frames else []
    if not indices:
        return Targets(teacher)
    kept = Kept(indices, speech, clips)
    lengths = {
        speed: [teacher.frame_count(kept.samples(index, speed, leads)) for index in indices]
        for speed in sorted(set(recipe.waveform.speeds))
    }
    _require_room(config, lengths, teacher.size)
    utterances = [speech.utterances[index] for index in indices]
    made_by = f"{teacher.checksum()} {leads}"
    frames = {
        speed: KeptFrames(
            _folder(recipe.data.work_dir, speed), utterances, counts, teacher.size, made_by
        )
        for speed, counts in lengths.items()
    }
    return Targets(teacher, frames, {index: place for place, index in enumerate(indices)})


def _require_room(config: DistilConfig, lengths: Mapping[float, Sequence[int]], size: int) -> None:
    """Raises RecipeError if frames of `size` numbers, so many at each speed, take too much."""
    gigabytes = sum(map(sum, lengths.values())) * size * BYTES / 1e9
    if gigabytes > config.most_gigabytes:
        raise RecipeError(
            f"distil.most_gigabytes: the teacher's frames would take {gigabytes:.1f} at "
            f"{len(lengths)} speeds; keep_frames = false computes them for every batch"
        )


def _folder(work_dir: Path, speed: float) -> Path:
    return work_dir / f"teacher-{speed:g}"


def _drawn(recipe: Recipe, speech: Speech) -> list[int]:
    """Recordings that a batch may draw.

    Where it joins some, their frames are computed anew. Stages that join others share what is kept.
    """
    data = recipe.data
    return [
        index
        for index, each in enumerate(speech.utterances)
        if data.draws_per_epoch.get(each.corpus, 0.0) > 0 and each.seconds <= data.max_seconds
    ]
