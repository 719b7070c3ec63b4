"""From phrases as people write them to the search's boost table, and back to boosted words.

A boost is what others call a hotword, a keyterm or contextual biasing: shallow fusion of a phrase's
weight with the scores of the first pass.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from earshot.decoder_kernels.boosting.boost import TOKEN_LIMIT, BoostPhrase, BoostTable
from earshot.decoder_kernels.boosting.boost_cycles import safe_phrases
from earshot.decoder_kernels.errors import KernelError
from earshot.language.g2p.plain_letters import plain_letters
from earshot.language.text.spoken_terms import readings
from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.streaming.boosting.asked_capitals import AskedCapitals
from earshot.streaming.boosting.cased_spellings import cased_spellings
from earshot.streaming.boosting.limited_boosts import limited_boosts
from earshot.streaming.events import BoostWarning, LimitedBoost, UnboostablePhrase
from earshot.streaming.stream_config import Boost

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class CompiledBoosts:
    """A request's boosts for one search: its table (None when empty) and what is left out.

    `texts` are the phrases as they were asked for. `phrases` are sequences of what the search
    counts in, tokens or words; `table` is the search's own, and nobody else looks at it. `spoken`:
    those phrases, by what the search counts in, that are said otherwise than the request wrote
    them. `warnings` name the phrases that are left out, `limited` those whose weight counts as
    less.
    """

    texts: tuple[str, ...]
    phrases: tuple[BoostPhrase, ...]
    table: object
    warnings: tuple[UnboostablePhrase, ...]
    spoken: frozenset[tuple[int, ...]] = frozenset()
    limited: tuple[LimitedBoost, ...] = ()

    @property
    def told(self) -> tuple[BoostWarning, ...]:
        """The warnings of both kinds, for whoever asked for the phrases."""
        return (*self.warnings, *self.limited)

    def refused(self, reason: str) -> "CompiledBoosts":
        """The same request with no phrase boosted."""
        refused = tuple(UnboostablePhrase(text, reason) for text in self.texts)
        return CompiledBoosts((), (), None, self.warnings + refused)

    @cached_property
    def capitals(self) -> AskedCapitals:
        """Capitals of the phrases as they were asked for."""
        return AskedCapitals(self.texts)

    def covered(self, tokens: Sequence[int]) -> list[bool]:
        """For each token or word, whether it lies in a complete phrase of positive weight."""
        return self._cover(tokens, frozenset())

    def read_out(self, tokens: Sequence[int]) -> list[bool]:
        """Words covered only by phrases in spoken form (`2026` as "twenty twenty six")."""
        as_written = self._cover(tokens, self.spoken)
        covered = zip(self.covered(tokens), as_written, strict=True)
        return [boosted and not written for boosted, written in covered]

    def _cover(self, tokens: Sequence[int], without: frozenset[tuple[int, ...]]) -> list[bool]:
        covered = [False] * len(tokens)
        for start, token in enumerate(tokens):
            for phrase_tokens in self._by_first.get(token, ()):
                stop = start + len(phrase_tokens)
                if tuple(tokens[start:stop]) == phrase_tokens and phrase_tokens not in without:
                    covered[start:stop] = [True] * len(phrase_tokens)
        return covered

    @cached_property
    def _by_first(self) -> dict[int, list[tuple[int, ...]]]:
        """Phrases of positive weight by what they begin with."""
        by_first = defaultdict(list)
        for phrase in self.phrases:
            if phrase.weight > 0:
                by_first[phrase.tokens[0]].append(phrase.tokens)
        return by_first


NO_BOOSTS = CompiledBoosts((), (), None, ())


def unboostable(boosts: Iterable[Boost], reason: str) -> CompiledBoosts:
    """No boosts: this search takes none."""
    warnings = (UnboostablePhrase(boost.phrase, reason) for boost in boosts)
    return CompiledBoosts((), (), None, tuple(warnings))


def compile_boosts(boosts: Iterable[Boost], tokenizer: Tokenizer) -> CompiledBoosts:
    """Tokenise phrases and build their table; warn of each that cannot be boosted, by name.

    Of two phrases with the same tokens ("Acme" and "ACME" under a tokenizer without case) the last
    counts. Under one with case a phrase is boosted in other capitals too (`cased_spellings`), but
    not in those of another phrase.
    """
    request = _Request(tokenizer)
    for boost in boosts:
        request.take(boost)
    return request.compiled()


class _Request:
    """The phrases of one request, by their tokens."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._asked: dict[Tokens, tuple[str, BoostPhrase]] = {}
        self._recased: dict[Tokens, tuple[str, BoostPhrase]] = {}
        self._as_written: set[Tokens] = set()
        self._warnings: list[UnboostablePhrase] = []

    def take(self, boost: Boost) -> None:
        """Note what is said for a phrase, or warn of it."""
        phrase = boost.phrase.strip()
        try:
            for said, tokens in _ways(phrase, self._tokenizer).items():
                recased = set(cased_spellings(said, self._tokenizer))
                self._asked[tokens] = boost.phrase, BoostPhrase(tokens, boost.weight)
                for each in recased:
                    self._recased[each] = boost.phrase, BoostPhrase(each, boost.weight)
                self._as_written |= {tokens, *recased} if said == phrase else set()
        except (TokenizerError, KernelError) as error:
            self._warnings.append(UnboostablePhrase(boost.phrase, str(error)))

    def compiled(self) -> CompiledBoosts:
        """The table of those that can be boosted."""
        all_ways = self._asked | {
            tokens: way for tokens, way in self._recased.items() if tokens not in self._asked
        }
        texts = tuple(dict.fromkeys(text for text, _ in all_ways.values()))
        phrases = tuple(phrase for _, phrase in all_ways.values())
        if not phrases:
            return CompiledBoosts(texts, phrases, None, tuple(self._warnings))
        limited = safe_phrases(phrases, lambda _: TOKEN_LIMIT)
        earned = (
            (text, asked.weight, paid.weight)
            for (text, asked), paid in zip(all_ways.values(), limited, strict=True)
        )
        return CompiledBoosts(
            texts,
            phrases,
            BoostTable.compile(limited, self._tokenizer.vocab_size, silent=self._spaces(limited)),
            tuple(self._warnings),
            spoken=frozenset(all_ways.keys() - self._as_written),
            limited=limited_boosts(earned, "token"),
        )

    def _spaces(self, phrases: Iterable[BoostPhrase]) -> frozenset[int]:
        """Tokens of phrases that are nothing but the space before a word."""
        used = {token for phrase in phrases for token in phrase.tokens}
        return frozenset(token for token in used if not self._tokenizer.decode([token]).strip())


def _ways(phrase: str, tokenizer: Tokenizer) -> dict[str, Tokens]:
    """Tokens of a phrase as it is, or else of each of the ways to say it.

    Raises UnencodableText, of the phrase as it is, where none of them can be written either.
    """
    try:
        return {phrase: tuple(tokenizer.encode(phrase))}
    except UnencodableText:
        plain = {said: _tokens(said, tokenizer) for said in map(plain_letters, readings(phrase))}
        found = {said: tokens for said, tokens in plain.items() if tokens}
        if not found:
            raise
        return found


def _tokens(said: str, tokenizer: Tokenizer) -> Tokens:
    """Nothing where the tokenizer cannot write it."""
    try:
        return tuple(tokenizer.encode(said))
    except UnencodableText:
        return ()
