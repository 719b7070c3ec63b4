"""Search of a decoding graph: WFST beam search over the words of a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TypeAlias

import numpy as np

from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.lm.lm_texts import MixedLm
from earshot.decoder_kernels.wfst.search_lm import SearchLm
from earshot.decoder_kernels.wfst.wfst_search import WfstHypothesis, WfstSearch
from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.boosting.word_boosting import GraphBoosts, compile_word_boosts, told_as
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.list_prices import RANKED, ListPrices
from earshot.streaming.language_models.told_words import ToldWords
from earshot.streaming.results.hypothesis import Best, Hypothesis
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.decoding_mode import mode_of
from earshot.streaming.search.graph_confidence import SegmentLattice
from earshot.streaming.search.search import slots_of
from earshot.streaming.search.search_frames import frames_of
from earshot.streaming.search.slot_decoder import SlotDecoder
from earshot.streaming.search.word_hypothesis import (
    NOTHING_PLACED,
    PlacedTokens,
    SegmentPosteriors,
    WordHypothesis,
)
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.words.graph_words import GraphWords

LmCosts: TypeAlias = Mapping[tuple[int, ...], float]
"""What models add to a hypothesis of these words."""

LOOK_EVERY_MS = 2000
"""Of audio. To list alternatives takes as long as to search some hundred milliseconds."""

UNSURE_MS = 2000
"""Before the last audio. There the letters of a word may not have been heard yet."""


@dataclass
class GraphState:
    """What a graph search keeps in a segment.

    committed: ids of the words that it has called stable. looked_at: frames that there were when it
        last looked whether the second pass might change them. placed: where the first of the
        committed words are. told: what the last partial may have told.
    """

    committed: tuple[int, ...] = ()
    looked_at: int = 0
    placed: PlacedTokens = NOTHING_PLACED
    told: WordHypothesis | None = None

    def place(self, until: int) -> None:
        """Leave committed words that end before this frame where they were told to be."""
        told, self.told = self.told, None
        if told is None or not told.is_placed or not self._is_told(told):
            return
        ends = told.stops[: len(self.committed)]
        count = sum(1 for _ in takewhile(lambda stop: told.frames[stop - 1] < until, ends))
        if count > len(self.placed.words):
            self.placed = told.first_placed(count)

    def _is_told(self, told: WordHypothesis) -> bool:
        return told.found.words[: len(self.committed)] == self.committed

    def forget(self) -> None:
        """The search goes on with other words."""
        self.committed, self.placed, self.told = (), NOTHING_PLACED, None


class WfstDecoder(SlotDecoder[WfstSearch]):
    """Search of a decoding graph; see `Search`. A second pass chooses from `list_size`, if any."""

    def __init__(
        self,
        network: CtcNetwork,
        search: WfstSearch,
        words: GraphWords,
        config: GraphSearchConfig,
        list_size: int,
    ) -> None:
        super().__init__(search, frames_of(words, network))
        self._network = network
        self._words = words
        self._config = config
        self._list_size = list_size
        self._prices = ListPrices(words.graph)
        self._lms: dict[int, tuple[SearchLm, tuple[int, ...]] | None] = {}

    def restart(self, streams: Sequence[ActiveStream]) -> None:
        """The slots start over, with the models of the next segments; what they counted is kept."""
        slots = slots_of(streams, self._device)
        counted = self._search.overflows_and_dead_ends(slots)
        for stream, (overflows, dead_ends) in zip(streams, counted, strict=True):
            self._count(stream, SearchCounts(overflows=overflows, dead_ends=dead_ends))
        self._search.reset(slots)
        for stream in streams:
            self._set_lm(stream)

    def compile(self, boosts: Sequence[Boost], config: StreamConfig) -> CompiledBoosts:
        """Compile boosts of words, also of those that the graph lacks."""
        options = self._config.options(config.graph)
        return compile_word_boosts(boosts, self._words, options, config.graph.entities)

    def configure(self, stream: ActiveStream, boosts: CompiledBoosts) -> None:
        """Options, language models, phrases, and words from outside, whose ids begin anew."""
        self._search.set_options(stream.slot, self._config.options(stream.config.graph))
        self._set_lm(stream)
        given = boosts.table
        assert given is None or isinstance(given, GraphBoosts)
        self._search.set_boost(stream.slot, None if given is None else given.table)
        self._state(stream).forget()

    def _set_lm(self, stream: ActiveStream) -> None:
        """Have the slot's search ask the models of the stream's segment, or none."""
        mix, wanted = stream.lms.searched, None
        if mix is not None:
            asked = stream.config.graph
            lm = mix.search_lm(self._config.options(asked).graph_scale, asked.entities.classes)
            wanted = lm, self._told_before(stream).numbers(lm.classes)
        if self._lms.get(stream.slot) != wanted:
            self._search.set_lm(stream.slot, None if wanted is None else _behind(*wanted))
            self._lms[stream.slot] = wanted

    def _told_before(self, stream: ActiveStream) -> ToldWords:
        """Words of an utterance that goes on over a cut."""
        classes = stream.config.graph.entities.classes
        return ToldWords(stream.utterance.words, self._words, classes)

    def best(self, streams: Sequence[ActiveStream]) -> list[Best]:
        """With as many stable words as the second pass will leave alone too."""
        results = self._search.best(slots_of(streams, self._device))
        self._commit(streams, [each.hypothesis.words[: each.stable_length] for each in results])
        return [
            self._told(stream, result.hypothesis)
            for stream, result in zip(streams, results, strict=True)
        ]

    def _told(self, stream: ActiveStream, found: WfstHypothesis) -> Best:
        """The hypothesis of a partial: looks for new words only where they can be."""
        state = self._state(stream)
        state.place(stream.segment.frames - round(UNSURE_MS / stream.settings.chunking.frame_ms))
        placed = state.placed if state.placed.begin(found.words) else NOTHING_PLACED
        [told] = self._spelled(stream, [found], placed=placed)
        state.told = told
        return Best(told, told.num_told(len(state.committed)))

    def nbest(self, stream: ActiveStream, count: int, *, ended: bool) -> list[Hypothesis]:
        """Hypotheses that keep the stable words; confidences are those of the lattice."""
        timed_out = partial(self._count, stream, SearchCounts(lattice_timeouts=1))
        lattice = SegmentLattice(self._search, stream.slot, self._config, timed_out, ended=ended)
        found, lm_costs = self._found(stream, lattice, count, ended=ended)
        committed = self._state(stream).committed
        # A segment that is cut between words may lack the last of them.
        keeping = [
            each
            for each in found
            if each.words[: len(committed)] == committed[: None if ended else len(each.words)]
        ]
        if not keeping:
            self._count(stream, SearchCounts(revised_prefixes=1))
        listed = keeping or found[:1]
        if not stream.segment.kept.words:  # else one that begins with them may be further down
            listed = listed[:count]
        return list(self._spelled(stream, listed, lattice, lm_costs))

    def _found(
        self, stream: ActiveStream, lattice: SegmentLattice, count: int, *, ended: bool
    ) -> tuple[list[WfstHypothesis], LmCosts]:
        """Hypotheses, best first, and what the models that the stream names add to them.

        Nothing where the search has asked them: all that they say is in its costs.
        """
        mix = stream.lms.ranking
        if mix is None:
            self._count(stream, SearchCounts(lm_searched_finals=stream.lms.searched is not None))
            return self._listed([stream], count, ended=ended)[0], {}
        return self._cheapest(stream, mix, lattice, ended=ended) or self._ranked(
            stream, mix, count, ended=ended
        )

    def _cheapest(
        self, stream: ActiveStream, mix: MixedLm, lattice: SegmentLattice, *, ended: bool
    ) -> tuple[list[WfstHypothesis], LmCosts] | None:
        """The best of the whole lattice; None where it is too large.

        Those that keep the stable words, if there are any.
        """
        drawn = lattice.drawn
        if drawn is None:
            return None
        scale = self._config.options(stream.config.graph).graph_scale
        said, brought = self._told_before(stream).listed, _brought(stream)
        paths = partial(self._prices.paths, mix, drawn, scale, said, brought, ended=ended)
        found = paths(beginning=self._state(stream).committed)
        if found is not None and not found:  # None: it takes too long, however often one asks
            found = paths()
        if found is None:
            return None
        self._count(stream, SearchCounts(lm_finals=1, lm_words=int(np.count_nonzero(drawn.words))))
        listed = [
            self._search.hypothesis(stream.slot, path.words, path.frames, path.cost, drawn)
            for path in found
        ]
        return listed, {path.words: path.price for path in found}

    def _ranked(
        self, stream: ActiveStream, mix: MixedLm, count: int, *, ended: bool
    ) -> tuple[list[WfstHypothesis], LmCosts]:
        """A list in the order of cost and price."""
        [found] = self._listed([stream], count, ended=ended)
        words = [each.words for each in found]
        said, brought = self._told_before(stream).listed, _brought(stream)
        prices = self._prices.of(mix, words, said, brought, ended=ended)
        scale = self._config.options(stream.config.graph).graph_scale
        self._count(stream, SearchCounts(lm_finals=1, lm_words=sum(map(len, words))))
        lm_costs = {each: scale * price for each, price in zip(words, prices, strict=True)}
        return sorted(found, key=lambda each: each.cost + lm_costs[each.words]), lm_costs

    def _commit(self, streams: Sequence[ActiveStream], stable: Sequence[tuple[int, ...]]) -> None:
        """Call the words stable that the histories of all tokens of a stream begin with.

        An alternative may have met the best path long ago and still be on the list that the second
        pass chooses from: where there is one, the words have to be the same all over that list.
        """
        news = {
            stream: words
            for stream, words in zip(streams, stable, strict=True)
            if len(words) > len(self._state(stream).committed)
        }
        rescored = [each for each in news if self._is_rescored(each)]
        news.update(self._untouchable({stream: news[stream] for stream in rescored}))
        for stream, words in news.items():
            state = self._state(stream)
            state.committed = max(state.committed, words, key=len)

    def _untouchable(
        self, stable: Mapping[ActiveStream, tuple[int, ...]]
    ) -> dict[ActiveStream, tuple[int, ...]]:
        """The words of each stream that its whole list begins with.

        None until it is time to look: all whose time it is are listed in one call.
        """
        due = [stream for stream in stable if self._is_due(stream)]
        found: dict[ActiveStream, tuple[int, ...]] = dict.fromkeys(stable, ())
        for stream, listed in zip(
            due, self._listed(due, max(self._list_size, 1), ended=False), strict=True
        ):
            self._state(stream).looked_at = stream.segment.frames
            words = stable[stream]
            found[stream] = words[: _common_prefix_length([words, *(e.words for e in listed)])]
        return found

    def _is_rescored(self, stream: ActiveStream) -> bool:
        attended = self._list_size > 0 and mode_of(stream.config) == "attention_rescoring"
        return attended or stream.lms.ranking is not None

    def _is_due(self, stream: ActiveStream) -> bool:
        frames = stream.segment.frames - self._state(stream).looked_at
        return frames * stream.settings.chunking.frame_ms >= LOOK_EVERY_MS

    def _listed(
        self, streams: Sequence[ActiveStream], count: int, *, ended: bool
    ) -> list[list[WfstHypothesis]]:
        """Each one's best hypotheses; the best alone where there are too many to be sorted.

        More of them where language models are to rank them, if so many can be found in time.
        """
        named = [stream for stream in streams if stream.lms.ranking is not None]
        ranked = self._lists(named, max(count, RANKED), ended=ended)
        found = {stream: listed for stream, listed in ranked.items() if listed is not None}
        rest = [stream for stream in streams if stream not in found]
        for stream, listed in self._lists(rest, count, ended=ended).items():
            found[stream] = self._best_alone(stream, ended=ended) if listed is None else listed
        return [found[stream] for stream in streams]

    def _lists(
        self, streams: Sequence[ActiveStream], count: int, *, ended: bool
    ) -> dict[ActiveStream, list[WfstHypothesis] | None]:
        """All in one call; None where there are too many to be sorted."""
        if not streams:
            return {}
        slots = [stream.slot for stream in streams]
        lists = self._search.nbest(slots, count, finalize=[ended] * len(slots))
        return dict(zip(streams, lists, strict=True))

    def _best_alone(self, stream: ActiveStream, *, ended: bool) -> list[WfstHypothesis]:
        self._count(stream, SearchCounts(nbest_timeouts=1))
        slots = slots_of([stream], self._device)
        return [result.hypothesis for result in self._search.best(slots, finalize=ended)]

    @staticmethod
    def _state(stream: ActiveStream) -> GraphState:
        segment = stream.segment
        if not isinstance(segment.search_state, GraphState):
            segment.search_state = GraphState()
        return segment.search_state

    def _spelled(
        self,
        stream: ActiveStream,
        found: Sequence[WfstHypothesis],
        lattice: SegmentLattice | None = None,
        lm_costs: LmCosts | None = None,
        placed: PlacedTokens = NOTHING_PLACED,
    ) -> list[WordHypothesis]:
        posteriors = SegmentPosteriors(self._network, stream.segment, placed.until)
        brought = _brought(stream)
        known = len(self._words.graph.word_texts)
        return [
            WordHypothesis(
                found=each,
                spelled=tuple(told_as(each.words, self._words, stream.boosts)),
                boosted=tuple(stream.boosts.covered(each.words)),
                read_out=tuple(stream.boosts.read_out(each.words)),
                classes=tuple(_class_of(word - known, brought) for word in each.words),
                separator=self._words.tokenizer.separator,
                posteriors=posteriors,
                lattice=lattice,
                placed=placed,
                lm_cost=(lm_costs or {}).get(each.words, 0.0),
            )
            for each in found
        ]


def _brought(stream: ActiveStream) -> Sequence[ClassMember | None]:
    """Whose members the words are that the stream has brought along, in the order of ids."""
    given = stream.boosts.table
    return given.brought if isinstance(given, GraphBoosts) else ()


def _class_of(place: int, brought: Sequence[ClassMember | None]) -> str | None:
    """The class of a word by its place among those that were brought along, if it has one."""
    member = brought[place] if 0 <= place < len(brought) else None
    return None if member is None else member.word_class


def _behind(lm: SearchLm, before: tuple[int, ...]) -> SearchLm:
    return lm.behind(before) if before else lm


def _common_prefix_length(sequences: Sequence[Sequence[int]]) -> int:
    """How many items all sequences begin with."""
    columns = zip(*sequences, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
