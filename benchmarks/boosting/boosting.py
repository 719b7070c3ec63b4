"""Searches whose boosts change from run to run: with a graph, and without one."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from benchmarks.boosting.boost_lists import BoostedWords, BoostList
from benchmarks.wfst.ours import Batch, OurSearch
from benchmarks.wfst.posteriors import Utterance
from benchmarks.wfst.word_errors import WordErrors
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.stream_config import Boost
from earshot.streaming.words.graph_words import GraphWords

ONLY = torch.tensor([0])  # slot


@dataclass(frozen=True)
class Run:
    """What one list at one weight made of a corpus."""

    texts: Sequence[str]
    seconds: float

    def errors(self, utterances: Sequence[Utterance]) -> WordErrors:
        """Against what was said."""
        return WordErrors.of([each.text for each in utterances], self.texts)


class Boosting(Protocol):
    """A search of either kind."""

    def run(self, utterances: Sequence[Utterance], words: BoostList, weight: float) -> Run:
        """Decode all with the list at that weight; without any boost if it is empty."""
        ...


class GraphBoosting:
    """The WFST search of a graph; its weights as the service limits them, or as they are."""

    def __init__(self, words: GraphWords, options: WfstOptions, *, limited: bool = True) -> None:
        self._words = words
        self._options = options
        self._limited = limited
        self._ours = OurSearch(words.graph, options)

    def run(self, utterances: Sequence[Utterance], words: BoostList, weight: float) -> Run:
        """With what the table makes of the list."""
        boosted = BoostedWords.of(words, weight, self._options, self._words, self._limited)
        self._ours.search.set_boost(0, boosted.table)
        texts = []
        began = time.process_time()
        for utterance in utterances:
            self._ours.start()
            self._ours.advance(Batch.of([torch.from_numpy(utterance.log_probs)]))
            [best] = self._ours.best(finalize=True)
            texts.append(" ".join(boosted.texts[word] for word in best.words))
        return Run(texts, time.process_time() - began)


class TokenBoosting:
    """The prefix search, without any graph."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._search = PrefixSearch(PrefixSearchConfig(), 1, tokenizer.vocab_size)

    def run(self, utterances: Sequence[Utterance], words: BoostList, weight: float) -> Run:
        """As the service limits the weight."""
        boosts = [Boost(phrase, weight) for phrase in words.phrases]
        compiled = compile_boosts(boosts, self._tokenizer)
        if compiled.warnings:
            raise ValueError(f"cannot be boosted: {compiled.warnings}")
        self._search.set_boost(0, compiled.table)
        began = time.process_time()
        texts = [self._text(utterance) for utterance in utterances]
        return Run(texts, time.process_time() - began)

    def _text(self, utterance: Utterance) -> str:
        log_probs = torch.from_numpy(utterance.log_probs)[None]
        self._search.reset(ONLY)
        self._search.advance(ONLY, log_probs, torch.tensor([log_probs.shape[1]]))
        [best] = self._search.nbest(0, 1)
        return self._tokenizer.decode(best.tokens)
