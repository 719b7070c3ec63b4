"""The capitals in which a request wrote its boosted phrases."""

from collections.abc import Iterable, Iterator, Sequence

Words = tuple[str, ...]
_MARKS = '.,?!;:…"”»)。，？！、；：'


class AskedCapitals:
    """Phrases with capitals, found again in words that are boosted.

    A search knows words without case, and a decoder writes the capitals that it has read; of a name
    the request knows more. Of two phrases that differ in case alone the last counts. A phrase in
    small letters says nothing of capitals, but that those which a model writes, and the marks after
    a word, are not the request's.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        asked = [tuple(phrase.split()) for phrase in phrases]
        capital = (words for words in asked if words != _folded(words))
        self._by_folded = {_folded(words): words for words in capital}
        self._small = frozenset(
            each for words in asked if words == _folded(words) for each in words
        )
        self._longest = max(map(len, self._by_folded), default=0)

    def of(self, texts: Sequence[str], boosted: Sequence[bool]) -> list[str | None]:
        """Words as the request wrote them, None where it has no more to say; longest phrases first.

        boosted: which words lie in a phrase that is said as it is written.
        """
        found: list[str | None] = [None] * len(texts)
        at = 0
        while at < len(texts):
            asked = next(self._beginning(texts, boosted, at), ())
            found[at : at + len(asked)] = asked
            at += max(1, len(asked))
        small = map(self._in_small, texts)
        either = zip(found, small, boosted, strict=True)
        return [word or (plain if covered else None) for word, plain, covered in either]

    def _in_small(self, text: str) -> str | None:
        """The word of a phrase in small letters, where a model has written it otherwise."""
        spellings = (text.lower(), _unmarked(text).lower())
        return next((each for each in spellings if each in self._small and each != text), None)

    def _beginning(self, texts: Sequence[str], boosted: Sequence[bool], at: int) -> Iterator[Words]:
        for stop in range(min(len(texts), at + self._longest), at, -1):
            if all(boosted[at:stop]):
                spellings = map(self._by_folded.get, _spellings(texts[at:stop]))
                yield from (asked for asked in spellings if asked is not None)


def _folded(words: Sequence[str]) -> Words:
    return tuple(word.lower() for word in words)


def _spellings(words: Sequence[str]) -> Iterator[Words]:
    """With all marks that a model wrote, without the last word's, without any."""
    bare = [_unmarked(word) for word in words]
    for spelling in (words, [*words[:-1], bare[-1]], bare):
        yield _folded(spelling)


def _unmarked(word: str) -> str:
    return word.rstrip(_MARKS) or word
