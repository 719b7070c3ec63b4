"""From phrases as people write them to a table for the search of a decoding graph."""

from collections.abc import Iterable, Iterator

from decoder_kernels.boost import BoostPhrase
from decoder_kernels.errors import KernelError
from decoder_kernels.word_boost import Spelling, WordBoostTable, WordPhrase
from models.errors import TokenizerError
from streaming.boosting import CompiledBoosts
from streaming.events import UnboostablePhrase
from streaming.graph_words import GraphWords, SpelledWord
from streaming.stream_config import Boost

Words = tuple[int | Spelling, ...]


def compile_word_boosts(boosts: Iterable[Boost], words: GraphWords, beam: float) -> CompiledBoosts:
    """Find the phrases' words, spell those that the graph lacks, and build the table.

    Warns of each phrase that cannot be boosted, by name. Of two phrases with the same words the
    last counts. `beam` is that of the stream: it bounds what a word can earn.
    """
    texts: dict[Words, str] = {}
    phrases: dict[Words, WordPhrase] = {}
    grafted: dict[Spelling, SpelledWord] = {}
    warnings: list[UnboostablePhrase] = []
    for boost in boosts:
        try:
            for variant in _variants(boost.phrase, words, grafted):
                phrases[variant] = WordPhrase(variant, boost.weight)
                texts[variant] = boost.phrase
        except (TokenizerError, KernelError) as error:
            warnings.append(UnboostablePhrase(boost.phrase, str(error)))
    if not phrases:
        return CompiledBoosts((), (), None, tuple(warnings))
    table = WordBoostTable.compile(list(phrases.values()), words.graph, beam=beam)
    refused = {phrase.words: reason for phrase, reason in table.refused}
    # Two spellings of one phrase are refused for one reason.
    warnings += dict.fromkeys(UnboostablePhrase(texts[w], why) for w, why in refused.items())
    ids = {spelling: _known(words) + k for k, spelling in enumerate(table.spellings)}
    accepted = [phrase for key, phrase in phrases.items() if key not in refused]
    return CompiledBoosts(
        texts=tuple(dict.fromkeys(texts[phrase.words] for phrase in accepted)),
        phrases=tuple(
            BoostPhrase(
                tuple(ids[w] if isinstance(w, tuple) else w for w in phrase.words), phrase.weight
            )
            for phrase in accepted
        ),
        table=None,
        warnings=tuple(warnings),
        word_table=table if accepted else None,
        grafted=tuple(grafted[spelling] for spelling in table.spellings),
    )


def _known(words: GraphWords) -> int:
    return len(words.graph.word_texts)


def _variants(
    phrase: str, words: GraphWords, grafted: dict[Spelling, SpelledWord]
) -> Iterator[Words]:
    """The phrase as the search may meet it; notes the words that have to be grafted.

    Where the model writes a token between words, a word of the graph comes with and without it. A
    grafted word has to do the same at the end of a phrase, where an utterance may end too.
    """
    split = words.split(phrase)
    separator = words.tokenizer.separator
    spelled: list[int | SpelledWord] = [
        word if isinstance(word, int) else SpelledWord(word, tuple(words.tokenizer.encode(word)))
        for word in split or [phrase]
    ]
    for last in dict.fromkeys((None, separator)):
        variant: list[int | Spelling] = []
        for word, after in zip(spelled, [separator] * (len(spelled) - 1) + [last], strict=True):
            if isinstance(word, int):
                variant.append(word)
                continue
            tokens = word.tokens if after is None else (*word.tokens, after)
            grafted[tokens] = word
            variant.append(tokens)
        yield tuple(variant)
