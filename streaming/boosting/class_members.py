"""Members of classes as the search of a graph takes them: each in all its likely spellings.

A member of several words is one word of the search, spelled as they are one after the other; what
is told of it is they.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.models.errors import UnencodableText
from earshot.streaming.entities import Entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import LeftOutMember
from earshot.streaming.words.graph_words import GraphWords, SpelledWord, spaces

MOST_WAYS = 3
"""A new word may be pronounced in, the likeliest first."""

MOST_WAYS_TOGETHER = 6
"""All words of a member: each of two in its second way as well, or one in its third."""

Ways = Mapping[str, tuple[Spelling, ...]]


@dataclass(frozen=True)
class SpelledMember:
    """A member in all its spellings, and the words that it is told as."""

    member: ClassMember
    words: tuple[SpelledWord, ...]

    @property
    def text(self) -> str:
        """The member as the request wrote it, with one space between words."""
        return " ".join(word.text for word in self.words)


def spelled_members(
    entities: Entities, words: GraphWords
) -> tuple[list[SpelledMember], list[LeftOutMember]]:
    """All members in the order of their classes, and those that cannot be spelled.

    Words that the graph knows are spelled, too. Raises InvalidStreamConfig for a graph that takes
    no words, and a class of which no member has a spelling.
    """
    if not entities:
        return [], []
    if not words.takes_words:
        raise InvalidStreamConfig("entities: this model's graph takes no words from outside")
    ways = words.spellings(word for _, text, _ in entities.shares() for word in text.split())
    spelled: list[SpelledMember] = []
    left_out: list[LeftOutMember] = []
    for name, text, share in entities.shares():
        try:
            told = tuple(words.new_word(word) for word in text.split())
            spellings = _said(told, words, ways)
        except UnencodableText as error:
            left_out.append(LeftOutMember(text, str(error), name))
        else:
            met = tuple(_as_met(spellings, words.separator))
            spelled.append(SpelledMember(ClassMember(met, name, share), told))
    return _sharing(spelled, left_out) if left_out else spelled, left_out


def _sharing(
    spelled: Sequence[SpelledMember], left_out: Sequence[LeftOutMember]
) -> list[SpelledMember]:
    """Members with shares of all of their class, where some of it are left out."""
    had: defaultdict[str, float] = defaultdict(float)
    for each in spelled:
        had[each.member.word_class] += each.member.share
    for out in left_out:
        if out.class_name not in had:
            raise InvalidStreamConfig(f"entities: {out.phrase!r} of {out.class_name}: {out.reason}")
    members = [each.member for each in spelled]
    shared = [replace(each, share=each.share / had[each.word_class]) for each in members]
    return [replace(each, member=member) for each, member in zip(spelled, shared, strict=True)]


def _said(told: Sequence[SpelledWord], words: GraphWords, ways: Ways) -> list[Spelling]:
    """How words are said one after the other, the likeliest first.

    Ranked by how far all their words together are from each one's likeliest way. Raises
    UnencodableText.
    """
    said: list[tuple[int, Spelling]] = [(0, ())]
    for word, space in zip(told, spaces([word.text for word in told]), strict=True):
        before = (words.separator,) if space and words.separator is not None else ()
        spellings = (ways.get(word.text) or (words.spelling(word.text),))[:MOST_WAYS]
        longer = [
            (rank + place, (*beginning, *before, *spelling))
            for rank, beginning in said
            for place, spelling in enumerate(spellings)
        ]
        said = sorted(longer, key=lambda each: each[0])[:MOST_WAYS_TOGETHER]
    return [spelling for _, spelling in said]


def _as_met(spellings: Sequence[Spelling], separator: int | None) -> Iterator[Spelling]:
    """With the token between words behind it where there is one, and where an utterance ends."""
    for spelling in dict.fromkeys(spellings):
        yield spelling
        if separator is not None:
            yield (*spelling, separator)
