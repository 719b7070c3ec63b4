"""Members of classes as the search of a graph takes them: each in all its spellings."""

from collections.abc import Iterator
from dataclasses import dataclass

from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.models.errors import UnencodableText
from earshot.streaming.entities import Entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.words.graph_words import GraphWords, SpelledWord

MOST_WAYS = 3
"""A new word may be pronounced in, the likeliest first."""


@dataclass(frozen=True)
class SpelledMember:
    """A member in one spelling, and the word that it is told as."""

    member: ClassMember
    word: SpelledWord


def spelled_members(entities: Entities, words: GraphWords) -> list[SpelledMember]:
    """All members in the order of their classes. Words that the graph knows are spelled, too.

    Raises InvalidStreamConfig for a graph that takes no words, and a member without a spelling.
    """
    if not entities:
        return []
    if not words.takes_words:
        raise InvalidStreamConfig("entities: this model's graph takes no words from outside")
    ways = words.spellings(word for _, word, _ in entities.shares())
    found = []
    for name, text, share in entities.shares():
        try:
            word = words.new_word(text)
            spellings = ways.get(text) or (words.spelling(text),)
        except UnencodableText as error:
            raise InvalidStreamConfig(f"entities: {text!r} of {name}: {error}") from error
        found += [
            SpelledMember(ClassMember(spelling, name, share), word)
            for spelling in _as_met(spellings[:MOST_WAYS], words.separator)
        ]
    return found


def _as_met(spellings: tuple[Spelling, ...], separator: int | None) -> Iterator[Spelling]:
    """With the token between words behind it where there is one, and where an utterance ends."""
    for spelling in dict.fromkeys(spellings):
        yield spelling
        if separator is not None:
            yield (*spelling, separator)
