"""Contextual biasing in a graph: boosted phrases of words, and dynamic OOV words.

A phrase is followed by the Aho-Corasick automaton of ``boost.py``, here over word ids; its state
is part of a token's key. An out-of-vocabulary (OOV) word is added dynamically: a trie of its
spelling hangs at the graph's loop node, the way through it costs what an unknown word costs
(`oov_trie`), and its last arc emits a word id of its own and returns to the loop node.

**Safe at any weight.** What phrases earn has three limits:

- no word earns more than `BEAM_SHARE` of the stream's beam, all phrases that end with it together
  (`boost_steps`), nor has a phrase under way more than that pending: a hypothesis that says it
  cannot by that alone push all others out of the beam. Galvez & Kaldewey 2023 (arXiv:2311.04996,
  section 4.3) take half;
- no words that are said again and again, whatever phrases they complete, earn more than
  `COST_SHARE` of what they cost without a history (`word_costs`), as the stream scales the graph's
  costs (`boost_cycles`), and OOV words `OOV_COST_SHARE`;
- nor more than `TOKEN_LIMIT` for each of their tokens. After themselves some words cost much less
  than without a history (`ho ho ho`); it is then the sound that speaks against one more.

A bonus is only paid on arcs with a word, and no cycle of epsilon arcs has one (`epsilon_cycles`),
so nothing can be gained without a frame.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from earshot.decoder_kernels.boosting.boost import TOKEN_LIMIT, BoostPhrase, BoostTable
from earshot.decoder_kernels.boosting.boost_cycles import safe_phrases
from earshot.decoder_kernels.boosting.boost_steps import within_step
from earshot.decoder_kernels.boosting.class_member import ClassMember
from earshot.decoder_kernels.boosting.oov_trie import OovTrie, OovWord, Spelling
from earshot.decoder_kernels.errors import BoostTableError
from earshot.decoder_kernels.graph.graph import MAX_NODES, Arc, Graph
from earshot.decoder_kernels.graph.wfst_key import CONTEXT_BITS, NODE_BITS
from earshot.decoder_kernels.graph.word_costs import Costs, unigram_costs

DEFAULT_BEAM = 17.0
BEAM_SHARE = 0.75
"""Of the stream's beam, the most that a word may earn."""
COST_SHARE = 0.6
"""Of a word's cost as a unigram; after some words it costs less, so the whole would be too much."""
OOV_COST_SHARE = 0.7
"""Of the cost of a word that the graph lacks, which is the same after all words."""

MAX_CONTEXTS = 1 << CONTEXT_BITS
"""The search's key has so many bits for the automaton's state."""

MAX_OOV_NODES = (1 << NODE_BITS) - MAX_NODES
"""What a graph leaves of the key's bits for a node."""


@dataclass(frozen=True)
class WordPhrase:
    """Words to boost: each by its id, or by its token ids if the graph does not know it.

    ``weight`` is the bonus per word in nats (negative: a cost). Raises BoostTableError for a phrase
    without words, a spelling without tokens, or a weight that is not finite.
    """

    words: tuple[int | Spelling, ...]
    weight: float

    def __post_init__(self) -> None:
        if any(word == () for word in self.words):
            raise BoostTableError("a word to boost is spelled with no tokens")
        BoostPhrase((0,) * len(self.words), self.weight)  # its checks are ours


@dataclass(frozen=True)
class WordBoostTable:
    """What a stream boosts, ready for the search.

    ``spellings[k]`` is the word with the id ``number of the graph's words + k``. Behind these come
    the ``members`` of classes, each with one id for all its spellings.
    ``oov_arcs``: the arcs of nodes 0 (the root, which stands for the loop node) to
    ``num_oov_nodes - 1``; target -1 is the loop node.
    ``refused``: the phrases that cannot be boosted here, and why. ``earned``: the others, and what
    each of their words earns, which is the weight or less.
    """

    automaton: BoostTable
    spellings: tuple[Spelling, ...]
    oov_arcs: tuple[Arc, ...]
    num_oov_nodes: int
    refused: tuple[tuple[WordPhrase, str], ...]
    earned: tuple[tuple[WordPhrase, float], ...]
    members: tuple[ClassMember, ...] = ()

    @property
    def fruitless(self) -> tuple[WordPhrase, ...]:
        """Phrases that are matched and earn nothing: what their words cost leaves no bonus."""
        return tuple(phrase for phrase, paid in self.earned if phrase.weight and not paid)

    @classmethod
    def compile(
        cls,
        phrases: Sequence[WordPhrase],
        graph: Graph,
        *,
        beam: float = DEFAULT_BEAM,
        graph_scale: float = 1.0,
        costs: Costs | None = None,
        num_tokens: Callable[[int], int] | None = None,
        members: Sequence[ClassMember] = (),
    ) -> "WordBoostTable":
        """Build the table; ``beam`` and ``graph_scale`` are those of the stream's `WfstOptions`.

        ``costs`` (W,): the graph's `unigram_costs`, which are computed if absent. ``num_tokens`` of
        a word of the graph; without it there is no limit by token. ``members`` of classes: no
        phrase has them. Raises BoostTableError, also for members that cannot hang at this graph.
        """
        _check_members(members, graph)
        refusals = [(phrase, _refusal(phrase, graph)) for phrase in phrases]
        accepted = [phrase for phrase, reason in refusals if reason is None]
        ids = _numbered(accepted, len(graph.word_texts))
        costs = unigram_costs(graph) if costs is None else costs
        prices = {
            word: _price(graph.unknown_cost, OOV_COST_SHARE * graph_scale, len(spelling))
            for spelling, word in ids.items()
        } | _known_prices(accepted, costs, graph_scale, num_tokens)
        most = BEAM_SHARE * beam
        limited = _limited(accepted, ids, most, prices)
        known = len(graph.word_texts) + len(ids)
        automaton = BoostTable.compile(limited, known, most_pending=most)
        outside = _outside(ids, members, known, graph.unknown_cost)
        oov = OovTrie(outside, _bonuses(limited, graph_scale))
        _check_sizes(automaton.num_states, oov.num_nodes)
        return cls(
            automaton,
            tuple(ids),
            oov.arcs,
            oov.num_nodes,
            refused=tuple((phrase, reason) for phrase, reason in refusals if reason is not None),
            earned=tuple(
                (phrase, paid.weight) for phrase, paid in zip(accepted, limited, strict=True)
            ),
            members=tuple(members),
        )


def _check_members(members: Sequence[ClassMember], graph: Graph) -> None:
    for member in members:
        for spelling in member.spellings:
            if (reason := _refusal(WordPhrase((spelling,), 0.0), graph)) is not None:
                raise BoostTableError(f"a member of {member.word_class}: {reason}")


def _outside(
    ids: Mapping[Spelling, int], members: Sequence[ClassMember], known: int, cost: float
) -> list[OovWord]:
    """Words that hang at the loop node, members behind the ``known``; ``cost``: of an unknown."""
    return [
        *(OovWord(spelling, word, cost) for spelling, word in ids.items()),
        *(
            OovWord(spelling, word, member.charge(cost))
            for word, member in enumerate(members, known)
            for spelling in member.spellings
        ),
    ]


def _check_sizes(states: int, oov_nodes: int) -> None:
    if states > MAX_CONTEXTS:
        raise BoostTableError(f"a boost table has at most {MAX_CONTEXTS} states")
    if oov_nodes > MAX_OOV_NODES:
        raise BoostTableError(f"words from outside take at most {MAX_OOV_NODES} nodes")


def _limited(
    phrases: Sequence[WordPhrase],
    ids: Mapping[Spelling, int],
    most: float,
    prices: Mapping[int, float],
) -> list[BoostPhrase]:
    """The phrases by word ids, with weights within the limits."""
    clamped = [
        BoostPhrase(
            tuple(ids[word] if isinstance(word, tuple) else word for word in phrase.words),
            max(-most, min(most, phrase.weight)),
        )
        for phrase in phrases
    ]
    return within_step(safe_phrases(clamped, prices.__getitem__), most)


def _price(cost: float, share: float, num_tokens: float) -> float:
    """What a word may earn however often it is said."""
    scaled = cost if cost == math.inf else share * max(0.0, cost)
    return min(scaled, TOKEN_LIMIT * num_tokens)


def _known_prices(
    phrases: Sequence[WordPhrase],
    costs: Costs,
    graph_scale: float,
    num_tokens: Callable[[int], int] | None,
) -> dict[int, float]:
    """The most that words of the graph may earn."""
    known = {word for phrase in phrases for word in phrase.words if isinstance(word, int)}
    return {
        word: _price(
            float(costs[word]),
            COST_SHARE * graph_scale,
            math.inf if num_tokens is None else num_tokens(word),
        )
        for word in known
    }


def _bonuses(phrases: Sequence[BoostPhrase], graph_scale: float) -> dict[int, float]:
    """The most that each word may earn, in the graph's units; without a scale all is free."""
    found: dict[int, float] = {}
    for phrase in phrases if graph_scale else ():
        for word in phrase.tokens:
            found[word] = max(found.get(word, 0.0), phrase.weight / graph_scale)
    return found


def _numbered(phrases: Sequence[WordPhrase], known: int) -> dict[Spelling, int]:
    """Ids of the words from outside, which go on where the graph's end."""
    ids: dict[Spelling, int] = {}
    for phrase in phrases:
        for word in phrase.words:
            if isinstance(word, tuple):
                ids.setdefault(word, known + len(ids))
    return ids


def _refusal(phrase: WordPhrase, graph: Graph) -> str | None:
    """Why the phrase cannot be boosted in this graph."""
    for word in phrase.words:
        if isinstance(word, int):
            if not 1 <= word < len(graph.word_texts):
                return f"word {word} is not among the graph's"
        elif phrase.weight < 0.0:
            return "a word that the graph does not have cannot be disfavoured"
        elif graph.topology == "explicit":
            return "a graph with the CTC rule in its arcs takes no words from outside"
        elif graph.loop_node < 0:
            return "the graph does not say where words from outside may start"
        elif not all(0 <= t < graph.vocab_size and t != graph.blank_id for t in word):
            return "a word is spelled with tokens that the graph does not have"
    return None
