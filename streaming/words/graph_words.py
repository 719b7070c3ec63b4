"""The words of a decoding graph in the model's units."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.word_costs import unigram_costs
from earshot.language.g2p.letters_to_phones import read_as
from earshot.language.g2p.plain_letters import plain_letters
from earshot.language.g2p.pronouncer import Pronouncer
from earshot.language.text.spoken_terms import is_initialism, is_plain, readings
from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.word_spans import CJK
from earshot.streaming.errors import UnusableGraph
from earshot.streaming.words.graph_fit import UnitKind

UNKNOWN_UNIT = "<unk>"


@dataclass(frozen=True)
class SpelledWord:
    """A word as people write it, and its tokens."""

    text: str
    tokens: Spelling


class GraphWords:
    """Finds words by their text, and their tokens.

    The search says which words were spoken, not by which of their spellings; the tokenizer's is
    taken. A word that it cannot spell (a lexicon may) becomes the model's `<unk>`. `costs`: the
    graph's `unigram_costs`. units: what the graph is spelled in; to one in phones `pronouncer` adds
    words.

    Raises UnusableGraph if there are words that cannot be spelled and no `<unk>`.
    """

    def __init__(
        self,
        graph: Graph,
        tokenizer: Tokenizer,
        *,
        units: UnitKind = "tokens",
        pronouncer: Pronouncer | None = None,
    ) -> None:
        self.graph = graph
        self.tokenizer = tokenizer
        self.units = units
        self._pronouncer = pronouncer
        self.costs = unigram_costs(graph)
        texts = list(graph.word_texts)
        words = range(len(texts) - 1, 0, -1)  # of words with one text the first stays
        self._by_text = {texts[word]: word for word in words}
        self._by_folded_text = {texts[word].casefold(): word for word in words}
        self._longest = max(map(len, texts))
        self._spelled: dict[int, SpelledWord] = {}
        self._unknown = tokenizer.units.ids.get(UNKNOWN_UNIT)
        if self._unknown is None:
            for word in range(1, len(graph.word_texts)):
                self.spelled(word)

    def find(self, text: str) -> int | None:
        """The word with this text, or else one that differs in case only."""
        found = self._by_text.get(text)
        return self._by_folded_text.get(text.casefold()) if found is None else found

    def spelled(self, word: int) -> SpelledWord:
        """The word of an id."""
        if word not in self._spelled:
            text = self.graph.word_texts[word]
            self._spelled[word] = SpelledWord(text, self._tokens(text))
        return self._spelled[word]

    @property
    def takes_words(self) -> bool:
        """Whether a request may bring words that the graph does not have."""
        graph = self.graph
        open_ended = graph.topology != "explicit" and graph.loop_node >= 0
        return open_ended and (self.units == "tokens" or self._pronouncer is not None)

    @property
    def separator(self) -> int | None:
        """The token between words, in graphs that have one."""
        return None if self.units == "phones" else self.tokenizer.separator

    def spelling(self, text: str) -> Spelling:
        """How the graph would spell a word that it does not have.

        Raises UnencodableText for one that has no spelling.
        """
        if self.units == "tokens":
            return tuple(self.tokenizer.encode(text))
        if self._pronouncer is None:
            raise UnencodableText(text, "the model does not know how new words are pronounced")
        if is_initialism(text):
            return self._pronouncer.pronounce_initialism(text)
        return self._pronouncer.pronounce(text)[0]

    def spellings(self, texts: Iterable[str]) -> dict[str, tuple[Spelling, ...]]:
        """All likely spellings of words in phones, `spelling` first; none in a graph of tokens."""
        if self.units == "tokens" or self._pronouncer is None:
            return {}
        return self._pronouncer.ways(text for text in texts if not is_initialism(text))

    def new_word(self, text: str) -> SpelledWord:
        """A word that the graph does not have, for the second pass.

        In a graph of phones it may have letters that the tokenizer cannot write ("Zoë"), which
        are plain there. Raises UnencodableText where that does not help.
        """
        try:
            return SpelledWord(text, tuple(self.tokenizer.encode(text)))
        except UnencodableText:
            if self.units == "tokens":
                raise
            return SpelledWord(text, tuple(self.tokenizer.encode(read_as(text))))

    def readings(self, phrase: str) -> list[list[int | str]]:
        """The words of a phrase, as `split` finds them, in each of the ways to say it.

        A phrase that the graph or the model can write is said as it is written.
        """
        if self.is_sayable(phrase):
            return [self.split(phrase)]
        return [self.split(said) for said in readings(phrase)] or [self.split(phrase)]

    def is_sayable(self, phrase: str) -> bool:
        """Whether a phrase is said as it is written: all of it the graph or the model can write."""
        return all(
            isinstance(word, int) or is_plain(word) or self._is_writable(word)
            for word in self.split(phrase)
        )

    def split(self, phrase: str) -> list[int | str]:
        """The words of a phrase: an id, or the text of a word that the graph does not know.

        Words are what spaces separate; what is written without spaces falls into the longest words
        that the graph knows, from left to right. Accents and hyphens are no matter where the model
        cannot write them.
        """
        return [word for piece in phrase.split() for word in self._split_piece(piece)]

    def _split_piece(self, piece: str) -> Sequence[int | str]:
        if (word := self.find(piece)) is not None:
            return [word]
        if all(CJK.fullmatch(letter) for letter in piece):
            return self._longest_words(piece) or [piece]
        return [piece] if self._is_writable(piece) else self._plain_parts(piece)

    def _is_writable(self, piece: str) -> bool:
        try:
            self.tokenizer.encode(piece)
        except UnencodableText:
            return False
        return True

    def _plain_parts(self, piece: str) -> list[int | str]:
        """Parts between hyphens, without accents if the graph lacks those: "Ice-Café", ice cafe."""
        parts = [part for part in piece.split("-") if part]
        found = [self.find(part) or self.find(plain_letters(part)) for part in parts]
        return [word or part for word, part in zip(found, parts, strict=True)]

    def _longest_words(self, piece: str) -> list[int] | None:
        found: list[int] = []
        at = 0
        while at < len(piece):
            for stop in range(min(len(piece), at + self._longest), at, -1):
                if (word := self.find(piece[at:stop])) is not None:
                    found.append(word)
                    at = stop
                    break
            else:
                return None
        return found

    def _tokens(self, text: str) -> Spelling:
        try:
            return tuple(self.tokenizer.encode(text))
        except UnencodableText as error:
            if self._unknown is None:
                raise UnusableGraph(f"{error}, and no {UNKNOWN_UNIT} either") from error
            return (self._unknown,)


def joined(texts: Sequence[str]) -> str:
    """Words as people write them one after the other."""
    return "".join(" " * space + text for space, text in zip(spaces(texts), texts, strict=True))


def spaces(texts: Sequence[str]) -> list[bool]:
    """Whether a space stands before each word: not before the first, nor between CJK characters."""
    return [False] * bool(texts) + [
        not (CJK.fullmatch(left[-1:]) and CJK.fullmatch(right[:1]))
        for left, right in itertools.pairwise(texts)
    ]
