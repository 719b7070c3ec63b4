"""Lists of words to boost: those that are said, and as many that are not."""

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.streaming.words.graph_words import GraphWords

SPELLABLE = re.compile("[a-z']+")


@dataclass(frozen=True)
class BoostList:
    """Words that the graph has, words that have to be spelled, and sequences of either."""

    known: Sequence[str]
    spelled: Sequence[str]
    sequences: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.known) + len(self.spelled)

    @property
    def phrases(self) -> Sequence[str]:
        """All of them."""
        return [*self.known, *self.spelled, *self.sequences]

    @classmethod
    def of_texts(cls, texts: Iterable[str], graph: Graph) -> "BoostList":
        """Every word of the texts once."""
        words = sorted({word for text in texts for word in text.split()})
        known = set(graph.word_texts)
        return cls(
            [word for word in words if word in known], [word for word in words if word not in known]
        )

    def with_sequences(self, texts: Iterable[str], longest: int) -> "BoostList":
        """These words, and all sequences of words in the texts up to that many: they overlap."""
        found = {
            " ".join(words[start : start + count])
            for words in (text.split() for text in texts)
            for count in range(2, longest + 1)
            for start in range(len(words) - count + 1)
        }
        return BoostList(self.known, self.spelled, sorted(found))

    def of_letters(self, least: int) -> "BoostList":
        """Those words that are not shorter."""
        return BoostList(
            [word for word in self.known if len(word) >= least],
            [word for word in self.spelled if len(word) >= least],
        )

    def unlike(self, graph: Graph, dictionary: Sequence[str], seed: int) -> "BoostList":
        """As many of both kinds, drawn at random, none of them in this list."""
        rng = random.Random(seed)
        said, known = {*self.known, *self.spelled}, set(graph.word_texts)
        others = [word for word in graph.word_texts[1:] if word not in said]
        unknown = [word for word in dictionary if word not in known and word not in said]
        return BoostList(
            rng.sample(others, len(self.known)), rng.sample(unknown, len(self.spelled))
        )


@dataclass(frozen=True, eq=False)
class BoostedWords:
    """A list at one weight, as the search takes it; ``texts`` goes on where the graph's end."""

    table: WordBoostTable
    texts: Sequence[str]

    @classmethod
    def of(
        cls,
        words: BoostList,
        weight: float,
        options: WfstOptions,
        of_graph: GraphWords,
        limited: bool = True,
    ) -> "BoostedWords":
        """``options`` are the stream's. A graph does not disfavour words that it does not have.

        limited: whether words of the graph earn within the service's limits; others always do.

        Raises ValueError for words that it cannot take.
        """
        graph = of_graph.graph
        ids: dict[str, int | Spelling] = {text: i for i, text in enumerate(graph.word_texts)}
        ids |= {word: of_graph.spelling(word) for word in words.spelled}
        spellings = {ids[word]: word for word in words.spelled}
        if len(spellings) < len(words.spelled):
            raise ValueError("some of these words sound alike, and only one of them can be written")
        phrases = [
            WordPhrase(tuple(ids[word] for word in phrase.split()), weight)
            for phrase in words.phrases
        ]
        table = WordBoostTable.compile(
            phrases,
            graph,
            beam=options.beam if limited else math.inf,
            graph_scale=options.graph_scale,
            costs=None if limited else np.full(len(graph.word_texts), math.inf),
            num_tokens=(lambda word: len(of_graph.spelled(word).tokens)) if limited else None,
        )
        if table.refused and weight >= 0:
            raise ValueError(f"cannot be boosted: {table.refused}")
        return cls(table, [*graph.word_texts, *(spellings[each] for each in table.spellings)])


def read_dictionary(path: Path) -> list[str]:
    """The words of a pronouncing dictionary that are of plain letters, in their order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    words = (line.split()[0] for line in lines if line and not line.startswith(";;;"))
    return [word for word in dict.fromkeys(words) if SPELLABLE.fullmatch(word)]
