"""From phrases (hotwords) as people write them to a table for the search of a decoding graph."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from earshot.decoder_kernels.boosting.boost import BoostPhrase
from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.boosting.oov_trie import Spelling
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.errors import KernelError
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.models.errors import UnencodableText
from earshot.streaming.boosting.boosting import CompiledBoosts
from earshot.streaming.boosting.class_members import SpelledMember, spelled_members
from earshot.streaming.boosting.limited_boosts import limited_boosts
from earshot.streaming.entities import NO_ENTITIES, Entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import LeftOutMember, UnboostablePhrase
from earshot.streaming.stream_config import Boost
from earshot.streaming.words.graph_words import GraphWords, SpelledWord

Words = tuple[int | Spelling, ...]
Said = Sequence[int | str]
"""Words as `GraphWords` finds them."""


@dataclass(frozen=True)
class GraphBoosts:
    """The table of a graph search, and what it tells the words as that its graph lacks, by ids.

    A member of a class may be several.
    """

    table: WordBoostTable
    oov_words: tuple[tuple[SpelledWord, ...], ...]

    @property
    def brought(self) -> tuple[ClassMember | None, ...]:
        """The members of classes among those words, each in its place; None is another word."""
        return (*(None for _ in self.table.spellings), *self.table.members)


def told_as(
    found: Iterable[int], words: GraphWords, boosts: CompiledBoosts
) -> list[tuple[SpelledWord, ...]]:
    """The words of ids; those above the graph's were brought along, and may be several each."""
    known, given = len(words.graph.word_texts), boosts.table
    brought = given.oov_words if isinstance(given, GraphBoosts) else ()
    return [(words.spelled(w),) if w < known else brought[w - known] for w in found]


def compile_word_boosts(
    boosts: Iterable[Boost],
    words: GraphWords,
    options: WfstOptions,
    entities: Entities = NO_ENTITIES,
) -> CompiledBoosts:
    """Find the phrases' words, spell those that the graph lacks, and build the table.

    Members of classes are words of their own beside them.

    Warns of each phrase that cannot be boosted, or earns nothing or less than asked, by name, and
    of each member that cannot be spelled. Of two phrases with the same words the last counts.
    `options` are those of the stream: they bound what a word can earn. Raises InvalidStreamConfig
    for entities that the graph does not take.
    """
    boosts = list(boosts)
    members, left_out = spelled_members(entities, words)
    request = _Request(words, [boost.phrase for boost in boosts], members, left_out)
    for boost in boosts:
        request.take(boost)
    for boost in boosts:
        request.take_other_ways(boost)
    return request.compiled(options)


class _Request:
    """The phrases of one request, by their words."""

    def __init__(
        self,
        words: GraphWords,
        phrases: Sequence[str],
        members: Sequence[SpelledMember],
        left_out: Sequence[LeftOutMember],
    ) -> None:
        self._words = words
        self._members = members
        self._readings = {
            phrase: [said or [phrase] for said in words.readings(phrase)] for phrase in phrases
        }
        self._spellings = words.spellings(
            word
            for said in self._readings.values()
            for word in itertools.chain.from_iterable(said)
            if isinstance(word, str)
        )
        self._texts: dict[Words, str] = {}
        self._phrases: dict[Words, WordPhrase] = {}
        self._oov_words: dict[Spelling, SpelledWord] = {}
        self._sayable = {phrase for phrase in phrases if words.is_sayable(phrase)}
        self._as_written: set[Words] = set()
        self._warnings: list[UnboostablePhrase] = [*left_out]

    def take(self, boost: Boost) -> None:
        """Find a phrase's words, or warn of it where they are none however it is said."""
        taken = [self._take(boost, said) for said in self._readings[boost.phrase]]
        if all(taken):
            self._warnings.append(UnboostablePhrase(boost.phrase, str(taken[0])))

    def take_other_ways(self, boost: Boost) -> None:
        """Add what else its new words may sound like, where no word of the request does."""
        for said in self._readings[boost.phrase]:
            for way in range(1, max((self._ways(word) for word in said), default=1)):
                self._take(boost, said, way)

    def _ways(self, word: int | str) -> int:
        return len(self._spellings.get(word, ())) if isinstance(word, str) else 1

    def _take(self, boost: Boost, said: Said, way: int = 0) -> UnencodableText | KernelError | None:
        """Note what is said for a phrase; returns why it cannot be boosted."""
        try:
            for variant in self._variants(said, way):
                self._phrases[variant] = WordPhrase(variant, boost.weight)
                self._texts[variant] = boost.phrase
                if boost.phrase in self._sayable:
                    self._as_written.add(variant)
        except (UnencodableText, KernelError) as error:
            return error
        return None

    def compiled(self, options: WfstOptions) -> CompiledBoosts:
        """The table of those that the graph takes."""
        phrases = list(self._phrases.values())
        try:
            table = self._table(phrases, options)
        except KernelError as error:  # of all phrases together
            if self._members:
                raise InvalidStreamConfig(f"entities: {error}") from error
            return self._refusing(dict.fromkeys(self._phrases, str(error)))
        without = _without(table, options.graph_scale)
        if len(table.refused) == len(phrases) and not self._members:
            return self._refusing(without)
        known = len(self._words.graph.word_texts)
        ids = {spelling: known + k for k, spelling in enumerate(table.spellings)}
        boosted = [phrase for phrase in phrases if phrase.words not in without]
        return replace(
            self._refusing(self._wholly(without)),
            texts=tuple(dict.fromkeys((*self._boosted_texts(boosted), *self._member_texts()))),
            phrases=tuple(
                BoostPhrase(_ids(phrase.words, ids), phrase.weight) for phrase in boosted
            ),
            table=GraphBoosts(
                table,
                (
                    *((self._oov_words[spelling],) for spelling in table.spellings),
                    *(each.words for each in self._members),
                ),
            ),
            spoken=frozenset(
                _ids(phrase.words, ids)
                for phrase in boosted
                if phrase.words not in self._as_written
            ),
            limited=limited_boosts(self._earned(table), "word"),
        )

    def _boosted_texts(self, boosted: Iterable[WordPhrase]) -> Iterator[str]:
        return (self._texts[phrase.words] for phrase in boosted)

    def _member_texts(self) -> Iterator[str]:
        return (each.text for each in self._members)

    def _earned(self, table: WordBoostTable) -> Iterator[tuple[str, float, float]]:
        for phrase, earned in table.earned:
            yield self._texts[phrase.words], phrase.weight, earned

    def _wholly(self, refused: Mapping[Words, str]) -> dict[Words, str]:
        """Refusals of phrases that are boosted in none of their readings."""
        kept = {self._texts[words] for words in self._phrases if words not in refused}
        return {words: why for words, why in refused.items() if self._texts[words] not in kept}

    def _table(self, phrases: Sequence[WordPhrase], options: WfstOptions) -> WordBoostTable:
        return WordBoostTable.compile(
            phrases,
            self._words.graph,
            beam=options.beam,
            graph_scale=options.graph_scale,
            costs=self._words.costs,
            num_tokens=lambda word: len(self._words.spelled(word).tokens),
            members=[each.member for each in self._members],
        )

    def _refusing(self, refused: Mapping[Words, str]) -> CompiledBoosts:
        """Nothing but warnings; two spellings of one phrase have one reason."""
        reasons = [UnboostablePhrase(self._texts[words], why) for words, why in refused.items()]
        return CompiledBoosts((), (), None, tuple(dict.fromkeys([*self._warnings, *reasons])))

    def _variants(self, said: Said, way: int) -> Iterator[Words]:
        """A reading as the search may meet it; notes the words that have to be brought in.

        Where the model writes a token between words, a word of the graph comes with and without it.
        A word brought in has to do the same at the end of a phrase, where an utterance may end too.
        """
        words = self._words
        spelled: list[int | SpelledWord] = [
            word if isinstance(word, int) else words.new_word(word) for word in said
        ]
        behind = [words.separator] * (len(spelled) - 1)
        for last in dict.fromkeys((None, words.separator)):
            yield tuple(
                word if isinstance(word, int) else self._bring_in(word, after, way)
                for word, after in zip(spelled, [*behind, last], strict=True)
            )

    def _bring_in(self, word: SpelledWord, after: int | None, way: int) -> Spelling:
        ways = self._spellings.get(word.text) or (self._words.spelling(word.text),)
        spelling = ways[min(way, len(ways) - 1)]
        spelling = spelling if after is None else (*spelling, after)
        held = self._oov_words.get(spelling, word).text
        if held.casefold() != word.text.casefold():
            raise UnencodableText(word.text, f"it sounds like {held!r} of the same request")
        self._oov_words[spelling] = word
        return spelling


def _without(table: WordBoostTable, graph_scale: float) -> dict[Words, str]:
    """The phrases that the table does not boost, and why."""
    free = f"its words are free at a language model weight of {graph_scale:g}"
    refused = {phrase.words: reason for phrase, reason in table.refused}
    return refused | {phrase.words: free for phrase in table.fruitless}


def _ids(words: Words, ids: Mapping[Spelling, int]) -> tuple[int, ...]:
    return tuple(ids[word] if isinstance(word, tuple) else word for word in words)
