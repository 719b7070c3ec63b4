"""Words told before a segment that was cut for its length, as language models go on behind them.

Ranked and searched they are the same: a word of the graph, a class whose members the stream names,
or else an unknown word, as the word would be within a segment.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from earshot.decoder_kernels.lm.lm_texts import WordClass, WordOrClass
from earshot.decoder_kernels.wfst.search_lm import UNKNOWN_WORD
from earshot.streaming.words.graph_words import GraphWords


@dataclass(frozen=True)
class ToldWords:
    """words: the last ones told, the newest last. classes: those that the stream names."""

    words: Sequence[str | WordClass]
    graph: GraphWords
    classes: Sequence[str]

    @property
    def listed(self) -> tuple[WordOrClass, ...]:
        """The words that ranking models go on behind; None is an unknown one."""
        return tuple(map(self._listed, self.words))

    def numbers(self, classes: Sequence[str]) -> tuple[int, ...]:
        """The same for a search with these classes (`SearchLm.before`)."""
        return tuple(self._number(word, classes) for word in self.listed)

    def _listed(self, word: str | WordClass) -> WordOrClass:
        if isinstance(word, WordClass):
            return word if word.name in self.classes else None
        known = self.graph.find(word)
        return None if known is None else self.graph.graph.word_texts[known]

    def _number(self, word: WordOrClass, classes: Sequence[str]) -> int:
        texts = self.graph.graph.word_texts
        if isinstance(word, WordClass):
            return len(texts) + classes.index(word.name) if word.name in classes else UNKNOWN_WORD
        known = None if word is None else self.graph.find(word)
        return UNKNOWN_WORD if known is None else known
