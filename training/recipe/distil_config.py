"""The section of a recipe on its teacher: a Whisper's encoder that hears whole recordings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from earshot.training.errors import RecipeError
from earshot.training.recipe.data_root import DataPath
from earshot.training.recipe.ranges import Ranges

WHISPER_SECONDS = 30.0  # all that it hears at once


@dataclass(frozen=True)
class DistilConfig:
    """The teacher hears each clean recording, the student the same in noise and chunk by chunk.

    Frames of recordings that stand alone are kept on disk, at every speed, where `keep_frames`;
    else they are computed for every batch. Whisper's frames know their place: half of the
    recordings come after some silence, always as long, which the teacher hears too.
    """

    whisper: DataPath | None = None  # the teacher; that of [start] if absent
    weight: float = 1.0  # of the mean squared difference, beside all other losses
    alone: bool = False  # no heads are learnt, and no transcript used but for decoder_weight
    teacher_pad_seconds: float = 5.0  # of silence after a recording, which Whisper expects
    most_lead_seconds: float = 1.0
    tail_seconds: float = 1.0  # of the silence after it, in which frames still count
    keep_frames: bool = True
    most_gigabytes: float = 16.0  # of frames on disk
    decoder_weight: float = 0.0  # of the decoder's loss, on transcripts as the teacher writes them;
    # without a rate of its own ([optimiser] group_rates) only the encoder learns by it
    most_text_errors: float = 0.1  # of the words of a transcript, where the teacher hears others
    sentence_corpora: tuple[str, ...] = ()  # of one sentence a transcript, which is written plainly
    # where the teacher hears others
    untranscribed_manifests: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        ranges = Ranges("distil", self)
        ranges.above_zero("weight", "most_gigabytes")
        ranges.between(0, WHISPER_SECONDS, "teacher_pad_seconds", "tail_seconds")
        ranges.between(0, 5, "most_lead_seconds")
        ranges.between(0, 1, "most_text_errors")
        ranges.at_least(0, "decoder_weight")
        if self.tail_seconds > self.teacher_pad_seconds:
            raise RecipeError("distil.tail_seconds: longer than teacher_pad_seconds")
        if self.untranscribed_manifests and not self.alone:
            raise RecipeError("distil.untranscribed_manifests: only where it learns alone")

    def require_corpora(self, known: Collection[str]) -> None:
        """Raises RecipeError for sentence corpora that are not among those of the manifests."""
        if unknown := sorted(set(self.sentence_corpora) - set(known)):
            raise RecipeError(f"distil.sentence_corpora: no manifest has {', '.join(unknown)}")

    @property
    def silent_seconds(self) -> float:
        """Silence about a recording at most, in which frames count."""
        return self.most_lead_seconds + self.tail_seconds
