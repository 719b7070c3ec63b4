"""The capitals in which a request wrote its boosted phrases."""

from collections.abc import Iterable, Iterator, Sequence

Words = tuple[str, ...]


class AskedCapitals:
    """Phrases with capitals, found again in words that are boosted.

    A search knows words without case, and a decoder writes the capitals that it has read; of a name
    the request knows more. A phrase in small letters says nothing of capitals. Of two phrases that
    differ in case alone the last counts.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        asked = (tuple(phrase.split()) for phrase in phrases)
        capital = (words for words in asked if words != _folded(words))
        self._by_folded = {_folded(words): words for words in capital}
        self._longest = max(map(len, self._by_folded), default=0)

    def of(self, texts: Sequence[str], boosted: Sequence[bool]) -> list[str | None]:
        """Words as the request wrote them, None for those of no phrase; the longest phrase first.

        boosted: which words lie in a phrase that is said as it is written.
        """
        found: list[str | None] = [None] * len(texts)
        at = 0
        while at < len(texts):
            asked = next(self._beginning(texts, boosted, at), ())
            found[at : at + len(asked)] = asked
            at += max(1, len(asked))
        return found

    def _beginning(self, texts: Sequence[str], boosted: Sequence[bool], at: int) -> Iterator[Words]:
        for stop in range(min(len(texts), at + self._longest), at, -1):
            asked = self._by_folded.get(_folded(texts[at:stop]))
            if asked is not None and all(boosted[at:stop]):
                yield asked


def _folded(words: Sequence[str]) -> Words:
    return tuple(word.lower() for word in words)
