"""A recogniser that is no CTC: it hears knocks, and says how many came in a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import numpy as np
import torch
from torch import Tensor, nn

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts, unboostable
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.engine.pulse import Beat
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import UnboostablePhrase
from earshot.streaming.results.hypothesis import Best, SpokenWord
from earshot.streaming.results.results import first_pass_scores
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.samples import Samples
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.chunking import Chunking
from earshot.streaming.stream.endpoint import Endpoint, FrameEvidence
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.lane_features import compute_features
from earshot.streaming.stream.replay import ReplayPoint
from earshot.streaming.stream.segment_end import ending_of
from earshot.streaming.stream_config import Boost, StreamConfig

RATE_HZ = 16_000
LOUD = 0.03


class Loudness:
    """Its own features: how loud each 10 ms are."""

    frame_length = frame_shift = 160
    before = closing = 0
    sample_scale = 1.0
    size = 1

    def silence_after(self, last: Tensor, count: int) -> Tensor:
        return torch.zeros(count)

    def of_frames(self, frames: Tensor) -> Tensor:
        return frames.abs().amax(dim=1, keepdim=True)

    def quietest(self, features: Tensor) -> Tensor:
        return features.amin(dim=0)


@dataclass(frozen=True)
class Knocks:
    """A hypothesis: the frame of each knock."""

    frames: tuple[int, ...]
    score: float = 0.0
    ends: tuple[int, ...] | None = None
    word_confidences = None

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(1 for _ in self.frames)

    @property
    def token_log_probs(self) -> list[float]:
        return [0.0 for _ in self.frames]

    @property
    def words(self) -> list[SpokenWord]:
        return [SpokenWord("knock", at, at + 1, False) for at in range(len(self.frames))]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True)
class KnockRules:
    """See `StreamRules`: it has one mode, no graph, and nobody whose word could be weighed."""

    def choose_search(self, config: StreamConfig) -> str:
        if config.mode not in (None, "knocks"):
            raise InvalidStreamConfig(f"mode={config.mode}: must be knocks")
        if config.graph.lm or config.graph.named:
            raise InvalidStreamConfig("lm=on: there is no decoding graph here")
        if config.weights:
            raise InvalidStreamConfig(f"{', '.join(config.weights)}: nobody's word is weighed here")
        return "knocks"


class KnockRecognizer:
    """See `Recognizer`. Its state is the segment's own frames."""

    counts = SearchCounts()
    rules = KnockRules()
    graph = None
    device = torch.device("cpu")

    def __init__(self, loaded: LoadedModel, config: EngineConfig) -> None:
        self.settings = StreamSettings(
            Loudness(), Chunking(8, 1, 0, 10.0), RATE_HZ, config.max_utterance_ms, 40
        )
        modes = ("knocks",)
        self.model = ModelDescription(
            loaded.name, loaded.format, 0, 2, RATE_HZ, 80.0, modes, {}, (), loaded.weights
        )

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        return unboostable(boosts, "a knock is a knock")

    def configure(
        self, stream: ActiveStream, config: StreamConfig, boosts: CompiledBoosts
    ) -> tuple[UnboostablePhrase, ...]:
        stream.search = self.rules.choose_search(config)
        stream.config, stream.boosts = config, NO_BOOSTS
        return boosts.warnings

    def encode(self, lanes: Sequence[Lane]) -> None:
        compute_features(lanes, self.settings)
        for lane in lanes:
            lane.encoded = lane.stream.window(lane.cut)

    def decode(self, lanes: Sequence[Lane]) -> None:
        for lane in lanes:
            if lane.cut.frames:
                lane.observe(self.evidence(lane))
            lane.ending = self.ending(lane)

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        self.decode(lanes)

    def evidence(self, lane: Lane) -> FrameEvidence:
        loud = [value > LOUD for value in lane.encoded[:, 0].tolist()]
        return FrameEvidence(silent=[not each for each in loud], spoken=loud)

    def ending(self, lane: Lane) -> Ending | None:
        """One that grew too long is cut where it is."""
        nbest = partial(self._nbest, lane.stream)
        return ending_of(lane, nbest, _frames_of, lane.stream.segment.truncate)

    def heard(self, stream: ActiveStream) -> Knocks:
        """What the stream's segment says."""
        return Knocks(onsets(stream.segment.memory()) if stream.segment.frames else ())

    def _nbest(self, stream: ActiveStream, ended: bool) -> list[Knocks]:
        return [self.heard(stream)]

    def finish(self, endings: Sequence[Ending], beat: Beat) -> None:
        for ending in endings:
            ending.scored = [first_pass_scores(each) for each in ending.hypotheses]

    def restart(self, endings: Sequence[Ending]) -> None:
        for ending in endings:
            ending.leave()

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        return [Best(self.heard(stream), 0) for stream in streams]

    def replay_point(self, stream: ActiveStream) -> ReplayPoint:
        return stream.replay_point()

    def resume(self, stream: ActiveStream, point: ReplayPoint) -> None:
        stream.resume(point)

    def free(self, stream: ActiveStream) -> None:
        """There is nothing in its slot."""


class HumProofRecognizer(KnockRecognizer):
    """Its decoder alone knows when it is silent: what stays loud is a hum, and no knock."""

    def evidence(self, lane: Lane) -> FrameEvidence:
        segment = lane.stream.segment
        frames = torch.cat([segment.memory(), lane.encoded]) if segment.frames else lane.encoded
        knocks = set(onsets(frames))
        return knocks_as_evidence([at in knocks for at in range(segment.frames, len(frames))])


def knocks_as_evidence(begun: Sequence[bool]) -> FrameEvidence:
    """Silent is every frame in which no knock begins."""
    return FrameEvidence(silent=[not each for each in begun], spoken=begun)


def onsets(frames: Tensor) -> tuple[int, ...]:
    """The first frame of each stretch of loud ones."""
    found: list[int] = []
    at = 0
    for loud, stretch in groupby(value > LOUD for value in frames[:, 0].tolist()):
        found += [at] * loud
        at += len(list(stretch))
    return tuple(found)


def sound(*gaps_s: float, hum: float = 0.0) -> Samples:
    """Knocks of 20 ms, each after a gap; a gap at the end."""
    samples = np.full(round(sum(gaps_s) * RATE_HZ), hum, np.float32)
    for end_s in np.cumsum(gaps_s)[:-1]:
        samples[round(end_s * RATE_HZ) :][:320] = 0.5
    return samples


def _frames_of(endpoint: Endpoint) -> int:
    return endpoint.frames


def loaded_knocks(name: str = "knocks") -> LoadedModel:
    """A model of the family, without a network."""
    units = UnitTable.parse("<blank> 0\nk 1\n", "units")
    return LoadedModel(name, nn.Identity(), CharTokenizer(units), "knocks", family="knocks")


def _is_a_recognizer(toy: KnockRecognizer) -> Recognizer:
    """Not called: the type checker reads it."""
    return toy
