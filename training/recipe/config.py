"""Everything a training run is told, as frozen dataclasses, read from one TOML file."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from earshot.models.config import ConvNorm, FeatureConfig, InputLayer, Positions
from earshot.training.errors import RecipeError
from earshot.training.recipe.checkpoint_config import CheckpointConfig
from earshot.training.recipe.data_root import DataPath, Roots
from earshot.training.recipe.distil_config import WHISPER_SECONDS, DistilConfig
from earshot.training.recipe.optimiser_config import OptimiserConfig
from earshot.training.recipe.ranges import Ranges
from earshot.training.recipe.recipe_file import read_with_common, section
from earshot.training.recipe.recipe_value import read_value
from earshot.training.recipe.student_config import StudentConfig, check_student
from earshot.training.recipe.transducer_config import TransducerTrainingConfig

CORPUS_KEYS = (
    "draws_first_epoch", "draws_per_epoch", "joined_corpora", "narrow_corpora", "whole_corpora",
)  # fmt: skip


@dataclass(frozen=True)
class DataConfig:
    """Where the recordings are and how often an epoch draws each corpus.

    1.0 draw is every utterance once. The first epoch is for leaving the blank plateau.
    """

    train_manifest: DataPath
    dev_manifest: DataPath
    noise_manifest: DataPath
    work_dir: Path
    draws_first_epoch: Mapping[str, float]
    draws_per_epoch: Mapping[str, float]
    more_manifests: tuple[Path, ...] = ()  # of more training speech, such as what is synthesised
    synthetic_count: int = 0
    synthetic_seed: int = 17
    joined_corpora: tuple[str, ...] = ()  # short clips, joined into utterances of one speaker
    narrow_corpora: tuple[str, ...] = ()  # recorded at 8 kHz
    whole_corpora: tuple[str, ...] = ()  # of words that stand alone: no time is masked
    max_seconds: float = 17.0
    speeds: tuple[float, ...] = (1.0,)  # at which features are kept; an example draws one

    def __post_init__(self) -> None:
        ranges = Ranges("data", self)
        ranges.at_least(0, "synthetic_count")
        ranges.above_zero("max_seconds")
        if 1.0 not in self.speeds or not all(0.5 <= speed <= 2.0 for speed in self.speeds):
            raise RecipeError("data.speeds: needs 1.0, and others between 0.5 and 2.0")
        for key in ("draws_first_epoch", "draws_per_epoch"):
            if not all(0 <= draws < math.inf for draws in getattr(self, key).values()):
                raise RecipeError(f"data.{key}: numbers of draws are at least 0")
        if not any(self.draws_per_epoch.values()):
            raise RecipeError("data.draws_per_epoch: needs at least one corpus")

    def require_corpora(self, known: Collection[str]) -> None:
        """Raises RecipeError for corpora that are named here and not among those of the manifests.

        Misspelled ones would never be heard, and nobody would notice.
        """
        for key in CORPUS_KEYS:
            unknown = sorted(set(getattr(self, key)) - set(known))
            if unknown:
                raise RecipeError(
                    f"data.{key}: no manifest has {', '.join(unknown)}; "
                    f"there are {', '.join(sorted(known))}"
                )


@dataclass(frozen=True)
class AugmentConfig:
    """Ranges of the random changes to an utterance; probabilities are per utterance."""

    tempo: tuple[float, float] = (0.87, 1.15)
    warp: tuple[float, float] = (0.88, 1.14)
    clip_tempo: tuple[float, float] = (0.75, 1.5)  # of the joined corpora
    clip_warp: tuple[float, float] = (0.80, 1.25)
    clip_trim_probability: float = 0.0
    clip_trim_db: tuple[float, float] = (12.0, 32.0)  # under the loudest frame
    gain_db: tuple[float, float] = (-15.0, 9.0)
    tilt_db: float = 4.0
    noise_probability: float = 0.5
    noise_snr_db: tuple[float, float] = (5.0, 35.0)
    narrowband_probability: float = 0.2
    pad_probability: float = 0.7
    pad_seconds: float = 0.6
    from_step: int = 1400
    spec_augment_from_step: int = 2000
    freq_masks: int = 2
    freq_mask_bins: int = 15
    time_masks: int = 2
    time_mask_frames: int = 30
    time_mask_share: float = 0.0  # if above 0: hidden on average, by as many stretches as it takes

    def __post_init__(self) -> None:
        ranges = Ranges("augment", self)
        ranges.above_zero("tempo", "warp", "clip_tempo", "clip_warp")
        ranges.between(
            0, 1, "clip_trim_probability", "noise_probability", "narrowband_probability",
            "pad_probability", "time_mask_share",
        )  # fmt: skip
        ranges.at_least(
            0, "clip_trim_db", "tilt_db", "pad_seconds", "from_step", "spec_augment_from_step",
            "freq_masks", "time_masks", "time_mask_frames",
        )  # fmt: skip
        ranges.between(0, FeatureConfig().num_mel_bins, "freq_mask_bins")
        ranges.ordered(
            "tempo", "warp", "clip_tempo", "clip_warp", "clip_trim_db", "gain_db", "noise_snr_db"
        )

    @property
    def most_pad_frames(self) -> int:
        """`pad_seconds` in feature frames."""
        return round(self.pad_seconds * 100)


@dataclass(frozen=True)
class WaveformConfig:
    """A recipe with this section changes sound, not features; the ranges of `AugmentConfig` hold.

    Speeds are drawn instead of tempo and warp. Rooms: simulated ones, and the measured responses of
    the noise manifest whose set is named.
    """

    speeds: tuple[float, ...] = (0.9, 1.0, 1.1)
    clip_speeds: tuple[float, ...] = (0.8, 0.9, 1.0, 1.1, 1.2)  # of the joined corpora
    room_probability: float = 0.3
    simulated_rooms: int = 400
    measured_rooms: tuple[str, ...] = ()
    babble_share: float = 0.15  # of what is noisy
    stationary_share: float = 0.3

    def __post_init__(self) -> None:
        for name in ("speeds", "clip_speeds"):
            speeds = getattr(self, name)
            if not speeds or not all(0.5 <= speed <= 2.0 for speed in speeds):
                raise RecipeError(f"waveform.{name}: needs speeds between 0.5 and 2.0")
        ranges = Ranges("waveform", self)
        ranges.between(0, 1, "room_probability", "babble_share", "stationary_share")
        ranges.at_least(0, "simulated_rooms")
        if self.room_probability > 0 and self.simulated_rooms < 1 and not self.measured_rooms:
            raise RecipeError("waveform.room_probability: there are no rooms")
        if self.babble_share + self.stationary_share > 1:
            raise RecipeError("waveform: babble_share and stationary_share are more than all noise")


@dataclass(frozen=True)
class UnitsConfig:
    """Size of the sentencepiece unigram model, its characters included."""

    tokens: int = 160

    def __post_init__(self) -> None:
        Ranges("units", self).at_least(1, "tokens")


@dataclass(frozen=True)
class NetworkConfig:
    """What a recipe chooses of the model's configuration; `recipe_model` fixes the rest."""

    encoder: Literal["conformer", "whisper"] = "conformer"
    pool_after_block: int | None = None  # of whisper, like the next one
    narrow: int | None = None  # columns that the heads get
    decoder: Literal["own", "whisper"] = "own"
    decoder_tokens: int | None = None  # that whisper's keeps; None: all, or those of [start] model
    decoder_texts: tuple[DataPath, ...] = ()  # where they are used
    language: str = "en"  # of the transcripts, which whisper's decoder is told; as Whisper has it
    input_layer: InputLayer = "conv1d6"
    output_size: int = 144
    attention_heads: int = 4
    linear_units: int = 576
    num_blocks: int = 8
    cnn_module_kernel: int = 15
    decoder_linear_units: int = 576
    decoder_blocks: int = 2
    decoder_r_blocks: int = 1
    dropout_rate: float = 0.1
    positions: Positions = "no_pos"
    block_norm: bool = False
    conv_norm: ConvNorm = "layer_norm"
    residual_init_scale: float = 0.3
    initial_blank_logit: float = 5.0
    chunk_size: int = 11
    chunk_sizes: tuple[int, ...] = ()  # from which requests may choose; -1: whole segments
    decoding_ctc_weight: float = 0.5
    decoding_reverse_weight: float = 0.3
    decoding_lm_weight: float = 0.3
    decoding_graph_beam: float = 10.0
    decoding_neural_lm_weight: float = 0.5
    lead_in_ms: int = 0
    flush_with_silence: bool = False


@dataclass(frozen=True)
class PhoneConfig:
    """A second CTC loss, over phones: see `phones`.

    From the update `sequence_from_step` on, all other phone sequences count against it (CTC-CRF).
    """

    lexicon: DataPath
    block: int | None = None  # from 1, left behind at export; without it the model's own head
    weight: float = 0.3  # its share of the whole loss
    rate: int = 1  # phone frames for each of the encoder's, of the model's own head
    sequence_from_step: int | None = None
    sequence_ctc_share: float = 0.1  # of plain CTC, beside CTC-CRF
    letters: Path | None = None  # a network that reads out words which the lexicon lacks

    def __post_init__(self) -> None:
        ranges = Ranges("phones", self)
        ranges.at_least(1, "rate")
        ranges.at_least(0, "sequence_ctc_share")
        if self.block is not None and self.rate != 1:
            raise RecipeError("phones.rate: a head on a lower block has a rate of 1")
        if not 0.0 <= self.weight < 1.0:
            raise RecipeError("phones.weight: has to be at least 0 and below 1")
        if self.sequence_from_step is not None and self.sequence_from_step < 0:
            raise RecipeError("phones.sequence_from_step: has to be at least 0")


@dataclass(frozen=True)
class StartConfig:
    """Where the weights come from, if not from chance: a model directory, or a Whisper.

    A run that starts so has no first epochs of its own: it begins with the usual draws, shuffled.
    """

    model: Path | None = None
    whisper: DataPath | None = None

    def __post_init__(self) -> None:
        if (self.model is None) == (self.whisper is None):
            raise RecipeError("start: needs one of model and whisper")


@dataclass(frozen=True)
class Recipe:
    """One training run; `name` is what the model is called."""

    name: str
    data: DataConfig
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    waveform: WaveformConfig | None = None
    units: UnitsConfig = field(default_factory=UnitsConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    checkpoints: CheckpointConfig = field(default_factory=CheckpointConfig)
    phones: PhoneConfig | None = None
    start: StartConfig | None = None
    distil: DistilConfig | None = None
    transducer: TransducerTrainingConfig | None = None
    student: StudentConfig | None = None

    def __post_init__(self) -> None:
        if not self.name or {"/", "\0"} & set(self.name) or self.name in (".", ".."):
            raise RecipeError(f"name: {self.name!r} cannot be the name of a folder")
        if self.start is None and not any(self.data.draws_first_epoch.values()):
            raise RecipeError("data.draws_first_epoch: needs a corpus, or [start] a model")
        if self.waveform is not None and self.data.speeds != (1.0,):
            raise RecipeError("data.speeds: [waveform] has speeds of its own")
        if self.waveform is not None and self.augment.clip_trim_probability > 0:
            raise RecipeError("augment.clip_trim_probability: only without [waveform]")
        block = self.phones.block if self.phones is not None else None
        blocks = self.network.num_blocks if self.network.encoder == "conformer" else 0
        if block is not None and not 1 <= block <= blocks:
            raise RecipeError(f"phones.block: there is no block {block}")
        if self.start is None and self.checkpoints.start_share > 0:
            raise RecipeError("checkpoints.start_share: needs a [start]")
        self._check_encoder()
        self._check_decoder()
        self._check_teacher()
        self._check_head()
        if self.student is not None:
            check_student(self)

    def _check_encoder(self) -> None:
        net, start = self.network, self.start
        if net.encoder == "whisper":
            if start is None:
                raise RecipeError("network.encoder: a whisper's needs a [start]")
            if self.waveform is None:
                raise RecipeError(
                    "network.encoder: a whisper's hears sound that [waveform] changes"
                )
            return
        if start is not None and start.whisper is not None:
            raise RecipeError('start.whisper: needs encoder = "whisper" in [network]')
        if (net.pool_after_block, net.narrow) != (None, None):
            raise RecipeError("network: pool_after_block and narrow are of whisper's encoder")
        if self.distil is not None:
            raise RecipeError('distil: needs encoder = "whisper" in [network]')

    def _check_decoder(self) -> None:
        net = self.network
        if net.decoder == "whisper":
            if self.distil is None or self.optimiser.ctc_weight < 1.0:
                raise RecipeError(
                    "network.decoder: whisper's learns from [distil], and ctc_weight is 1.0"
                )
            return
        if net.decoder_tokens is not None:
            raise RecipeError('network.decoder_tokens: needs decoder = "whisper" in [network]')
        if self.distil is not None and self.distil.decoder_weight > 0:
            raise RecipeError('distil.decoder_weight: needs decoder = "whisper" in [network]')

    def _check_teacher(self) -> None:
        if self.distil is None or self.waveform is None:
            return
        if self.teacher is None:
            raise RecipeError("distil.whisper: needs the teacher that [start] does not name")
        longest = self.data.max_seconds / min(self.waveform.speeds) + self.distil.silent_seconds
        if longest > WHISPER_SECONDS:
            raise RecipeError(
                f"data.max_seconds: with silence, and slowed, {longest:.1f} s, but a Whisper hears "
                f"{WHISPER_SECONDS:.0f}"
            )

    def _check_head(self) -> None:
        if self.transducer is None:
            return
        if self.start is None or self.start.model is None:
            raise RecipeError("transducer: a head grows on a trained model, which [start] names")
        if self.phones is not None or self.distil is not None:
            raise RecipeError("transducer: nothing else is learnt beside the head")
        if self.optimiser.group_rates or self.optimiser.frozen_groups:
            raise RecipeError("transducer: the head learns by peak_rate, all else stays as it is")
        if self.checkpoints.start_share > 0:
            raise RecipeError("checkpoints.start_share: a head begins with nothing")

    @property
    def teacher(self) -> Path | None:
        """The Whisper that is learnt from, None where none is."""
        if self.distil is None:
            return None
        if self.distil.whisper is not None or self.start is None:
            return self.distil.whisper
        return self.start.whisper

    @property
    def data_files(self) -> list[tuple[str, Path]]:
        """What a run finds in the data, with the keys that name it."""
        keys = ("train_manifest", "dev_manifest", "noise_manifest")
        files = [(f"data.{key}", getattr(self.data, key)) for key in keys]
        if self.phones is not None:
            files.append(("phones.lexicon", self.phones.lexicon))
        if self.start is not None and self.start.whisper is not None:
            files.append(("start.whisper", self.start.whisper))
        files += [("network.decoder_texts", path) for path in self.network.decoder_texts]
        if self.distil is not None and self.distil.whisper is not None:
            files.append(("distil.whisper", self.distil.whisper))
        return files


SECTIONS = {
    "data": DataConfig,
    "augment": AugmentConfig,
    "waveform": WaveformConfig,
    "units": UnitsConfig,
    "network": NetworkConfig,
    "optimiser": OptimiserConfig,
    "checkpoints": CheckpointConfig,
    "phones": PhoneConfig,
    "start": StartConfig,
    "distil": DistilConfig,
    "transducer": TransducerTrainingConfig,
    "student": StudentConfig,
}


def load_recipe(path: Path, data: Path | None = None) -> Recipe:
    """Reads a recipe whose data lies in `data`, or else beside it; see `data_root`.

    Raises RecipeError, naming what is wrong.
    """
    document = read_with_common(path)
    unknown = set(document) - set(SECTIONS) - {"name"}
    if unknown:
        raise RecipeError(f"{path}: unknown sections {', '.join(sorted(unknown))}")
    if "data" not in document or "name" not in document:
        raise RecipeError(f"{path}: needs a name and a [data] section")
    roots = Roots.of(path, data)
    sections: dict[str, Any] = {
        name: section(kind, name, document[name], roots)
        for name, kind in SECTIONS.items()
        if name in document
    }
    return Recipe(read_value(str, "name", document["name"], roots), **sections)
