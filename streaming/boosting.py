"""From phrases as people write them to the boost table of the search, and back to words that were boosted."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from decoder_kernels.boost import BoostPhrase, BoostTable
from decoder_kernels.errors import KernelError
from models.errors import TokenizerError
from models.tokenizer import Tokenizer
from streaming.events import UnboostablePhrase
from streaming.stream_config import Boost, DecodingMode

_NO_BEAM: dict[DecodingMode, str] = {
    "ctc_greedy_search": "greedy search keeps no hypotheses to choose from",
    "attention": "the attention decoder's own beam search takes no boosts",
}


@dataclass(frozen=True)
class CompiledBoosts:
    """A request's boosts for one model: the search's table (None when empty), and what was left out."""

    phrases: tuple[BoostPhrase, ...]
    table: BoostTable | None
    warnings: tuple[UnboostablePhrase, ...]

    def covered(self, tokens: Sequence[int]) -> list[bool]:
        """For each token, whether it lies in a complete phrase of positive weight."""
        by_first = defaultdict(list)
        for phrase in self.phrases:
            if phrase.weight > 0:
                by_first[phrase.tokens[0]].append(phrase.tokens)
        covered = [False] * len(tokens)
        for start, token in enumerate(tokens):
            for phrase_tokens in by_first.get(token, ()):
                stop = start + len(phrase_tokens)
                if tuple(tokens[start:stop]) == phrase_tokens:
                    covered[start:stop] = [True] * len(phrase_tokens)
        return covered


NO_BOOSTS = CompiledBoosts((), None, ())


def compile_boosts(boosts: Iterable[Boost], mode: DecodingMode, tokenizer: Tokenizer) -> CompiledBoosts:
    """Tokenise phrases and build their table; what cannot be boosted becomes a warning that names it.

    Of two phrases with the same tokens ("Acme" and "ACME" under a tokenizer without case) the last counts.
    """
    phrases: dict[tuple[int, ...], BoostPhrase] = {}
    warnings: list[UnboostablePhrase] = []
    for boost in boosts:
        if mode in _NO_BEAM:
            warnings.append(UnboostablePhrase(boost.phrase, _NO_BEAM[mode]))
            continue
        try:
            tokens = tuple(tokenizer.encode(boost.phrase.strip()))
            phrases[tokens] = BoostPhrase(tokens, boost.weight)
        except (TokenizerError, KernelError) as error:
            warnings.append(UnboostablePhrase(boost.phrase, str(error)))
    kept = tuple(phrases.values())
    table = BoostTable.compile(kept, tokenizer.vocab_size) if kept else None
    return CompiledBoosts(kept, table, tuple(warnings))
