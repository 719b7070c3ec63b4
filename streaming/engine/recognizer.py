"""What the engine asks of a model family: one chunk of many streams at a time."""

from collections.abc import Sequence
from typing import Protocol

import torch

from earshot.decoder_kernels.graph.graph import Graph
from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.engine.pulse import Beat
from earshot.streaming.events import BoostWarning
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.stream.active_stream import ActiveStream, StreamSettings
from earshot.streaming.stream.lane import Ending, Lane
from earshot.streaming.stream.replay import ReplayPoint
from earshot.streaming.stream_config import Boost, StreamConfig


class StreamRules(Protocol):
    """What a recogniser takes from streams: small, without state, and fit to be pickled."""

    def choose_search(self, config: StreamConfig) -> str:
        """The name of the search that a stream with this config gets.

        Raises InvalidStreamConfig for what the recogniser and the model's parts cannot do.
        """


class Recognizer(Protocol):
    """Encoder, search and rescorers of one model, with the state of every slot.

    `rules` and `compile` are for any thread, all else for the engine's alone.
    What it keeps of a stream lies in the stream's slot, or in its segment's `search_state`.
    """

    @property
    def rules(self) -> StreamRules:
        """Rules for what streams may ask of it."""

    @property
    def settings(self) -> StreamSettings:
        """Features, chunks and limits, the same for every stream."""

    @property
    def model(self) -> ModelDescription:
        """The model's description."""

    @property
    def graph(self) -> Graph | None:
        """The decoding graph that it can search, whose words language models rank."""

    @property
    def device(self) -> torch.device:
        """The device that searches are on."""

    @property
    def counts(self) -> SearchCounts:
        """Counters of what searches could not do so far."""

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """The boosts for the search of a stream with this config."""

    def configure(
        self, stream: ActiveStream, config: StreamConfig, boosts: CompiledBoosts
    ) -> tuple[BoostWarning, ...]:
        """Decode the stream so from its segment's start on; return what goes without its boost.

        Raises InvalidStreamConfig, with nothing changed.
        """

    def encode(self, lanes: Sequence[Lane]) -> None:
        """Fill in `encoded`, and `output` for its own decoder.

        A call that fails leaves every slot as it was. Raises DecodingFailed where numbers are none.
        """

    def decode(self, lanes: Sequence[Lane]) -> None:
        """Walk over the lanes' new frames, with the evidence for endpoints (`Lane.observe`).

        The evidence may come before the walk, or out of it. An endpoint leaves the frames behind
        `used` to the next segment: a walk that has gone further is to be undone, down to `used`.
        Fills in `ending` where a segment ends, with what this pass leaves of it.
        """

    def decode_again(self, lanes: Sequence[Lane]) -> None:
        """Decode again, after `decode` has failed somewhere on the way.

        Slots may then hold any part of the walk: it begins anew from the segment's frames. Where
        `Lane.observed`, those hold the step's `used` frames already, and evidence is not asked for
        again; where not, the step's frames come after them. An `ending` that is there stays.
        """

    def finish(self, endings: Sequence[Ending], beat: Beat) -> None:
        """Fill in `scored`, best first; work that takes seconds calls `beat` now and then."""

    def restart(self, endings: Sequence[Ending]) -> None:
        """Begin what comes after these segments. Where it has failed it may be done again."""

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """What each segment says so far."""

    def replay_point(self, stream: ActiveStream) -> ReplayPoint:
        """Where another engine can take the stream up: its rule, for the moment after a final."""

    def resume(self, stream: ActiveStream, point: ReplayPoint) -> None:
        """Have a stream that has heard nothing go on from there as the other would have."""

    def free(self, stream: ActiveStream) -> None:
        """Leave nothing of the stream in its slot."""
