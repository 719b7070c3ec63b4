"""From slots whose files are over to results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from earshot.decoder_kernels.lm.lm_texts import MixedLm
from earshot.decoder_kernels.wfst.wfst_confidence import WordConfidences
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.boosting.word_boosting import told_as
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.list_prices import RANKED, ListPrices
from earshot.streaming.posteriors.ctc_lattice import CtcLattice
from earshot.streaming.posteriors.ctc_result import CtcResult, CtcText, CtcWord
from earshot.streaming.posteriors.placed_words import PlacedWords
from earshot.streaming.words.graph_words import GraphWords, SpelledWord

LISTED = 10
"""Hypotheses that are looked for at least: some have the same text."""

Ranked = list[tuple[WfstHypothesis, float]]
"""Hypotheses, best first, each with what language models add to its cost."""


@dataclass(frozen=True, eq=False)
class Utterance:
    """A file in its slot. ranking: models that rank what the search has found."""

    slot: int
    log_probs: Tensor
    boosts: CompiledBoosts
    graph_scale: float
    ranking: MixedLm | None


class UtteranceReader:
    """Reads the results of one search's slots."""

    def __init__(self, search: WfstSearch, words: GraphWords, config: GraphSearchConfig) -> None:
        self._search = search
        self._words = words
        self._config = config
        self._prices = ListPrices(words.graph)

    def spelled(self, words: Sequence[int], boosts: CompiledBoosts) -> list[SpelledWord]:
        """The words of ids, those that boosts brought along too."""
        # Each is one: only members of classes are several, and nobody names any here.
        return [word for [word] in told_as(words, self._words, boosts)]

    def read(self, utterances: Sequence[Utterance], count: int) -> list[CtcResult]:
        """Up to `count` texts of each, with all that goes with them. The slots stay as they are."""
        slots = [each.slot for each in utterances]
        lists = self._search.nbest(slots, max(count, LISTED))
        lattices = self._search.lattices(slots)
        counted = self._search.overflows_and_dead_ends(torch.tensor(slots))
        rows = zip(utterances, lists, lattices, counted, strict=True)
        return [self._result(*row, count) for row in rows]

    def _result(
        self,
        utterance: Utterance,
        listed: list[WfstHypothesis] | None,
        drawn: WordLattice | None,
        counted: tuple[int, int],
        count: int,
    ) -> CtcResult:
        ranked = self._ranked(utterance, listed or self._best_alone(utterance), drawn)
        return CtcResult(
            nbest=self._texts(utterance, ranked, drawn, count),
            frames=len(utterance.log_probs),
            lattice=None if drawn is None else CtcLattice(drawn, self._names(drawn, utterance)),
            warnings=utterance.boosts.told,
            overflows=counted[0],
            dead_ends=counted[1],
        )

    def _best_alone(self, utterance: Utterance) -> list[WfstHypothesis]:
        slots = torch.tensor([utterance.slot])
        return [result.hypothesis for result in self._search.best(slots, finalize=True)]

    def _ranked(
        self, utterance: Utterance, listed: list[WfstHypothesis], drawn: WordLattice | None
    ) -> Ranked:
        """By the search, or by the models that rank: of the lattice's paths, or else of a list."""
        mix = utterance.ranking
        if mix is None:
            return [(each, 0.0) for each in listed]
        paths = None
        if drawn is not None:
            paths = self._prices.paths(mix, drawn, utterance.graph_scale, ended=True)
        if paths:
            assert drawn is not None  # or there would be no paths of it
            hypothesis = self._search.hypothesis
            return [
                (hypothesis(utterance.slot, each.words, each.frames, each.cost, drawn), each.price)
                for each in paths
            ]
        [longer] = self._search.nbest([utterance.slot], RANKED)
        found = longer or listed
        prices = self._prices.of(mix, [each.words for each in found], ended=True)
        scaled = [utterance.graph_scale * price for price in prices]
        return sorted(zip(found, scaled, strict=True), key=lambda each: each[0].cost + each[1])

    def _texts(
        self, utterance: Utterance, ranked: Ranked, drawn: WordLattice | None, count: int
    ) -> tuple[CtcText, ...]:
        """The first `count` whose texts differ; of some with one text the best."""
        config, sure = self._config, None
        if drawn is not None:
            sure = WordConfidences.of_lattice(drawn, config.posterior_scale, config.coverage)
        found: dict[str, CtcText] = {}
        for hypothesis, price in ranked:
            placed = self._placed(utterance, hypothesis)
            if placed.text not in found:
                score = -(hypothesis.cost + price)
                words = _words(placed, sure, utterance.boosts.covered(hypothesis.words))
                found[placed.text] = CtcText(placed.text, words, score)
            if len(found) == count:
                break
        return tuple(found.values())

    def _placed(self, utterance: Utterance, hypothesis: WfstHypothesis) -> PlacedWords:
        return PlacedWords(
            hypothesis,
            self.spelled(hypothesis.words, utterance.boosts),
            utterance.log_probs,
            self._words.graph.blank_id,
            self._words.separator,
        )

    def _names(self, drawn: WordLattice, utterance: Utterance) -> Mapping[int, str]:
        ids = [word for word in np.unique(drawn.words).tolist() if word]
        words = self.spelled(ids, utterance.boosts)
        return {0: "<eps>"} | {each: word.text for each, word in zip(ids, words, strict=True)}


def _words(
    placed: PlacedWords, sure: WordConfidences | None, boosted: Sequence[bool]
) -> tuple[CtcWord, ...]:
    found = placed.found
    confidences = placed.token_confidences if sure is None else sure.of(found.words, found.frames)
    rows = zip(placed.spelled, placed.frames, confidences, boosted, strict=True)
    return tuple(
        CtcWord(word.text, frames[0], frames[-1] + 1, confidence, is_boosted)
        for word, frames, confidence, is_boosted in rows
    )
