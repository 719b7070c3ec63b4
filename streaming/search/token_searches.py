"""The searches that know tokens and no words: CTC prefix beam search, and greedy search."""

from collections.abc import Sequence

from torch import Tensor

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.boosting import CompiledBoosts, compile_boosts, unboostable
from earshot.streaming.results.hypothesis import Best, Hypothesis, TokenHypothesis
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.ctc_output import ctc_output
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.search.greedy import GreedySearch
from earshot.streaming.search.search import slots_of
from earshot.streaming.search.search_frames import TokenFrames
from earshot.streaming.search.slot_decoder import SlotDecoder
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import Boost, StreamConfig


class PrefixBeamDecoder(SlotDecoder[PrefixSearch]):
    """Prefix beam search; see `Search`."""

    def __init__(self, network: CtcNetwork, search: PrefixSearch, tokenizer: Tokenizer) -> None:
        super().__init__(search, TokenFrames(network))
        self._tokenizer = tokenizer

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """The slots start over, and what they counted is kept."""
        slots = slots_of(streams, self._device)
        for stream, overflows in zip(streams, self._search.overflows_of(slots), strict=True):
            self._count(stream, SearchCounts(overflows=overflows))
        self._search.reset(slots)

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """Compile boosts of tokens; the attention decoder's own beam search knows none."""
        if mode_of(config) == "attention":
            return unboostable(boosts, "the attention decoder's own beam search takes no boosts")
        return compile_boosts(boosts, self._tokenizer)

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """There are no options but boosts."""
        assert boosts.table is None or isinstance(boosts.table, BoostTable)
        self._search.set_boost(stream.slot, boosts.table)

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """Stable is what every hypothesis of the beam shares."""
        results = self._search.best(slots_of(streams, self._device))
        return [
            TokenHypothesis(result.hypothesis, self._tokenizer, stream.boosts).with_stable(
                result.stable_length
            )
            for stream, result in zip(streams, results, strict=True)
        ]

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """The beam; it is the same wherever the segment ends."""
        found = self._search.nbest(stream.slot, count)
        return [TokenHypothesis(each, self._tokenizer, stream.boosts) for each in found]


class GreedyDecoder:
    """Greedy search, whose state is in the segments; see `Search`."""

    counts = SearchCounts()

    def __init__(self, network: CtcNetwork, tokenizer: Tokenizer) -> None:
        self._frames = TokenFrames(network)
        self._blank_id = network.blank_id
        self._tokenizer = tokenizer

    def advance(self, lanes: Sequence[Lane]) -> None:
        """The likeliest tokens are known already."""
        for lane in lanes:
            best = ctc_output(lane).posteriors
            path = self._path(lane.stream)
            path.advance(best.tokens[: lane.used], best.log_probs[: lane.used])

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """A new path for each."""
        for stream in streams:
            stream.segment.search_state = None

    def rewind(self, stream: ActiveStream, encoded: Tensor | None) -> None:
        """Find the likeliest tokens again."""
        self.restart([stream])
        if encoded is not None:
            best_log_probs, best = self._frames.whole(encoded).max(dim=-1)
            self._path(stream).advance(best.tolist(), best_log_probs.tolist())

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """None."""
        return unboostable(boosts, "greedy search keeps no hypotheses to choose from")

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """There is nothing to configure: boosts are refused with a warning."""

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """The one path of each, in which every token is stable."""
        found = [self._hypothesis(stream) for stream in streams]
        return [each.with_stable(len(each.tokens)) for each in found]

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """The one path."""
        return [self._hypothesis(stream)]

    def _hypothesis(self, stream: ActiveStream) -> TokenHypothesis:
        found = self._path(stream).hypothesis()
        return TokenHypothesis(found, self._tokenizer, stream.boosts)

    def _path(self, stream: ActiveStream) -> GreedySearch:
        segment = stream.segment
        if not isinstance(segment.search_state, GreedySearch):
            segment.search_state = GreedySearch(self._blank_id)
        return segment.search_state
