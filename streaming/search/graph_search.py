"""Search of a decoding graph: WFST beam search over the words of a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from earshot.decoder_kernels.errors import TooManyHistories
from earshot.decoder_kernels.wfst.wfst_search import WfstHypothesis, WfstResult, WfstSearch
from earshot.models.u2.u2 import U2Model
from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.boosting.word_boosting import GraphBoosts, compile_word_boosts
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.graph_confidence import SegmentLattice
from earshot.streaming.search.search import slots_of
from earshot.streaming.search.search_frames import frames_of
from earshot.streaming.search.slot_decoder import SlotDecoder
from earshot.streaming.search.word_hypothesis import SegmentPosteriors, WordHypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.words.graph_words import GraphWords

LOOK_EVERY_MS = 2000
"""Of audio. To list alternatives takes as long as to search some hundred milliseconds."""


@dataclass
class GraphState:
    """What a graph search keeps in a segment.

    committed: ids of the words that it has called stable. looked_at: frames that there were when it
        last looked whether the second pass might change them.
    """

    committed: tuple[int, ...] = ()
    looked_at: int = 0


class WfstDecoder(SlotDecoder[WfstSearch]):
    """Search of a decoding graph; see `Search`. The second pass chooses from `list_size`."""

    def __init__(
        self,
        model: U2Model,
        search: WfstSearch,
        words: GraphWords,
        config: GraphSearchConfig,
        list_size: int,
    ) -> None:
        super().__init__(search, frames_of(words, model))
        self._model = model
        self._words = words
        self._config = config
        self._list_size = list_size

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """By mask."""
        slots = slots_of(streams, self._device)
        overflows, dead_ends = self._search.overflows(slots), self._search.dead_ends(slots)
        self.counts += SearchCounts(overflows=overflows, dead_ends=dead_ends)
        self._search.reset(slots)

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """Of words, and of what the graph lacks."""
        return compile_word_boosts(boosts, self._words, self._config.options(config.graph))

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """Options, phrases, and words from outside, whose ids begin anew."""
        self._search.set_options(stream.slot, self._config.options(stream.config.graph))
        given = boosts.table
        assert given is None or isinstance(given, GraphBoosts)
        self._search.set_boost(stream.slot, None if given is None else given.table)
        self._state(stream).committed = ()

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """With as many stable words as the second pass will leave alone too."""
        results = self._search.best(slots_of(streams, self._device))
        return [
            Best(self._spelled(stream, [result.hypothesis])[0], self._commit(stream, result))
            for stream, result in zip(streams, results, strict=True)
        ]

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """Those that keep what a partial has called stable; sure of words as the lattice is."""
        found = self._listed(stream, count, ended=ended)
        committed = self._state(stream).committed
        # A segment that is cut between words may lack the last of them.
        keeping = [
            each
            for each in found
            if each.words[: len(committed)] == committed[: None if ended else len(each.words)]
        ]
        if not keeping:
            self.counts += SearchCounts(revised_prefixes=1)
        lattice = SegmentLattice(
            self._search, stream.slot, self._config, self._give_up_lattice, ended=ended
        )
        return list(self._spelled(stream, keeping or found[:1], lattice))

    def _commit(self, stream: ActiveStream, result: WfstResult) -> int:
        """Count the words that the histories of all tokens begin with.

        An alternative may have met the best path long ago and still be on the list that the second
        pass chooses from: where there is one, the words have to be the same all over that list.
        """
        state = self._state(stream)
        stable = result.hypothesis.words[: result.stable_length]
        if stream.config.mode == "attention_rescoring" and len(stable) > len(state.committed):
            stable = self._untouchable(stream, stable)
        state.committed = max(state.committed, stable, key=len)
        return len(state.committed)

    def _untouchable(self, stream: ActiveStream, words: tuple[int, ...]) -> tuple[int, ...]:
        """Those of the words that the whole list begins with; few, until it is time to look."""
        state, frames = self._state(stream), stream.segment.frames
        if (frames - state.looked_at) * stream.settings.chunking.frame_ms < LOOK_EVERY_MS:
            return ()
        state.looked_at = frames
        listed = self._listed(stream, self._list_size, ended=False)
        return words[: _common_prefix_length([words, *(each.words for each in listed)])]

    def _listed(self, stream: ActiveStream, count: int, *, ended: bool) -> list[WfstHypothesis]:
        """The best hypotheses; the best alone where there are too many to be sorted."""
        try:
            return self._search.nbest(stream.slot, count, finalize=ended)
        except TooManyHistories:
            self.counts += SearchCounts(nbest_timeouts=1)
            slots = slots_of([stream], self._device)
            return [result.hypothesis for result in self._search.best(slots, finalize=ended)]

    @staticmethod
    def _state(stream: ActiveStream) -> GraphState:
        segment = stream.segment
        if not isinstance(segment.search_state, GraphState):
            segment.search_state = GraphState()
        return segment.search_state

    def _give_up_lattice(self) -> None:
        self.counts += SearchCounts(lattice_timeouts=1)

    def _spelled(
        self,
        stream: ActiveStream,
        found: Sequence[WfstHypothesis],
        lattice: SegmentLattice | None = None,
    ) -> list[WordHypothesis]:
        posteriors = SegmentPosteriors(self._model, stream.segment)
        given = stream.boosts.table
        oov_words = given.oov_words if isinstance(given, GraphBoosts) else ()
        known = len(self._words.graph.word_texts)
        return [
            WordHypothesis(
                found=each,
                spelled=tuple(
                    self._words.spelled(word) if word < known else oov_words[word - known]
                    for word in each.words
                ),
                boosted=tuple(stream.boosts.covered(each.words)),
                read_out=tuple(stream.boosts.read_out(each.words)),
                separator=self._words.tokenizer.separator,
                posteriors=posteriors,
                lattice=lattice,
            )
            for each in found
        ]


def _common_prefix_length(sequences: Sequence[Sequence[int]]) -> int:
    """How many items all sequences begin with."""
    columns = zip(*sequences, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
