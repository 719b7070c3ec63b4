"""The slots of one graph search, and what is asked of each."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.boosting.word_boosting import GraphBoosts, compile_word_boosts
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import EngineFull, InvalidStreamConfig
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.language_models.held_lms import HeldLms
from earshot.streaming.language_models.open_lms import OpenLms
from earshot.streaming.lm_mix import read_lm
from earshot.streaming.posteriors.ctc_result import CtcPartial, CtcResult
from earshot.streaming.posteriors.utterance_reader import Utterance, UtteranceReader
from earshot.streaming.search.ctc_searches import graph_search_sizes
from earshot.streaming.stream_config import Boost
from earshot.streaming.words.graph_words import GraphWords, joined


@dataclass(frozen=True, eq=False)
class Asked:
    """What one call asks for. lms: to be released when it is over."""

    nbest: int
    options: WfstOptions
    boosts: CompiledBoosts
    lms: HeldLms


class SearchSlots:
    """A search and its free slots. For one thread at a time, but for `asked` and `leave`."""

    def __init__(self, words: GraphWords, config: EngineConfig, device: torch.device) -> None:
        self._words = words
        self._config = config.graph_search
        self._lms = OpenLms.of(config.lm_dir, words.graph, config.graph_search, device)
        sizes = graph_search_sizes(config)
        if device.type == "cpu":  # whose workers have memos of their own
            sizes = replace(sizes, lm_cache_bytes=0)
        self._search = WfstSearch(words.graph, sizes, config.max_streams, device)
        self._reader = UtteranceReader(self._search, words, config.graph_search)
        self._free = list(range(config.max_streams))
        self._left: deque[tuple[int, Asked]] = deque()

    @property
    def vocab_size(self) -> int:
        """Tokens of the graph, the blank among them."""
        return self._words.graph.vocab_size

    def asked(
        self, nbest: int, boosts: Sequence[Boost], lm: str | None, lm_weight: float | None
    ) -> Asked:
        """What a call asks for, checked and compiled; for any thread.

        Raises InvalidStreamConfig.
        """
        choice = None if lm is None else read_lm(lm)
        if choice is False:
            raise InvalidStreamConfig("lm=off: there is nothing to search but the graph")
        options = self._config.options(GraphOptions(lm=choice, lm_weight=lm_weight))
        compiled = compile_word_boosts(boosts, self._words, options) if boosts else NO_BOOSTS
        self._lms.check(choice)
        return Asked(nbest, options, compiled, self._lms.hold(choice))

    def begin(self, count: int, asked: Asked) -> list[int]:
        """So many slots that begin anew with what is asked, or as many as there is room for.

        Raises EngineFull where none is free, CapacityExceeded where boosts have room in none.
        """
        self.sweep()
        if not self._free:
            raise EngineFull("all places are taken by open streams: finish or close some")
        taken, self._free = self._free[:count], self._free[count:]
        ready = 0
        try:
            for slot in taken:
                self._configure(slot, asked)
                ready += 1
        except CapacityExceeded:
            if not ready:
                raise
        finally:
            self.free(taken[ready:])
        return taken[:ready]

    def _configure(self, slot: int, asked: Asked) -> None:
        self._search.set_options(slot, asked.options)
        mix = asked.lms.searched
        scale = asked.options.graph_scale
        self._search.set_lm(slot, None if mix is None else mix.search_lm(scale))
        table = asked.boosts.table
        self._search.set_boost(slot, table.table if isinstance(table, GraphBoosts) else None)
        self._search.reset(torch.tensor([slot]))

    def free(self, slots: Sequence[int]) -> None:
        """Leave nothing in the slots, and give them to whoever comes."""
        if not slots:
            return
        for slot in slots:
            self._search.set_boost(slot, None)
            self._search.set_lm(slot, None)
        self._search.reset(torch.tensor(slots, dtype=torch.int64))
        self._free += slots

    def leave(self, slot: int, asked: Asked) -> None:
        """Note that a stream is over; for any thread, in the midst of anything: nothing waits."""
        self._left.append((slot, asked))

    def sweep(self) -> None:
        """Free the slots of streams that are over."""
        while self._left:
            slot, asked = self._left.popleft()
            asked.lms.release()
            self.free([slot])

    def advance(self, slots: Sequence[int], rows: Tensor, lengths: Sequence[int]) -> None:
        """Search frames `(B, T, V)` of slots `(B,)`."""
        if rows.shape[1]:
            there = rows.to(self._search.device)
            self._search.advance(torch.tensor(slots), there, torch.tensor(lengths))

    def partial(self, slot: int, boosts: CompiledBoosts) -> CtcPartial:
        """The likeliest words of a slot so far."""
        [best] = self._search.best(torch.tensor([slot]))
        spelled = self._reader.spelled(best.hypothesis.words, boosts)
        words = tuple(word.text for word in spelled)
        return CtcPartial(joined(words), words, best.stable_length)

    def results(
        self, slots: Sequence[int], frames: Sequence[Tensor], asked: Asked
    ) -> list[CtcResult]:
        """The results of slots whose files `(T, V)` are over."""
        ranking = asked.lms.mix if asked.lms.searched is None else None
        scale = asked.options.graph_scale
        utterances = [
            Utterance(slot, rows.cpu(), asked.boosts, scale, ranking)
            for slot, rows in zip(slots, frames, strict=True)
        ]
        return self._reader.read(utterances, asked.nbest)
