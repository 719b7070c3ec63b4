"""What a large model's words cost in a search, in plain Python: the rules that the kernels keep.

**State.** A token's key has its last words, three at most, the newest first; before all of them
stands the start of a sentence. They are cut to the longest end that is a context (of an n-gram, or
with a back-off other than 0) of one of the models, the graph's small one among them: what no model
can tell apart is one state. Packed, each word has 21 bits, the newest the lowest; tokens of one
place are in the order of these numbers.

**Price.** A word costs ``fixed(scale * L) - fixed(scale * S)`` beside what its arc costs: L is the
large model's cost after the token's words, of several ``-log sum(share * p)``, S that of the
graph's own, which the arcs have paid. A spelled word is each model's unknown word, in states too.
The search pays no less than the gain limit allows, ``max(price, -gain)``.

**Classes.** A word that a table brings as a member of a class is that class to the models, in
states too, where a class is numbered behind the graph's words, and costs what it adds beside
(`ClassMember.added`). A model that lacks the class has no say in its price, and an unknown word in
its state, as the small one has; where all lack it a member is an unknown word. Another model or
another table's members leave lists without ``rest``, another model classes in states unknown.

**Ends.** At a final node the end of a sentence has its price, in full. What the gain limit took of
a text's words is given where lists are read: ``rest``.

**History beam.** Of the tokens at one place (node, label, boost context) those survive that cost at
most so much more than its cheapest. That is before ``max_active`` counts, and before epsilon arcs:
what lies beyond is not followed, and no alternative for a history that survives.

**Changes.** Another model keeps tokens, whose words are cut anew; a token that had none has none.
Where the model has changed since the reset, lists have no ``rest``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from backoff_oracle import BackoffModel
from prefix_oracle import MINUS_INFINITY, log_add

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.graph.wfst_options import FRACTION_BITS, fixed
from earshot.decoder_kernels.lm.class_names import class_token
from earshot.decoder_kernels.lm.lm_image import COST_STEPS

WORD_BITS = 21
START_WORD = (1 << WORD_BITS) - 1
UNKNOWN_WORD = START_WORD - 1
MOST_WORDS = 3
END = 0
"""Stands for the end of a sentence where a word's price is asked."""


def unpacked(words: int) -> tuple[int, ...]:
    """The words of a state, the oldest first."""
    found = []
    while words:
        found.append(words & START_WORD)
        words >>= WORD_BITS
    return tuple(reversed(found))


def packed(words: Sequence[int]) -> int:
    """The state of some words, of which the last three count."""
    state = 0
    for word in words[-MOST_WORDS:]:
        state = state << WORD_BITS | word
    return state


@dataclass(frozen=True, eq=False)
class SearchLmOracle:
    """A stream's models; ``texts`` by the graph's word ids, the rest as `SearchLm` has it."""

    texts: Sequence[str]
    small: BackoffModel
    large: Sequence[BackoffModel]
    shares: Sequence[float]
    scale: float
    gain: float
    history_beam: float
    classes: Sequence[str] = ()
    members: Sequence[tuple[int, float]] = ()
    """Of a table's words: their numbers in states, and what they add in nats."""

    cuts: dict[int, int] = field(default_factory=dict)
    prices: dict[tuple[int, int], int] = field(default_factory=dict)

    def with_members(self, table: WordBoostTable | None, unknown_cost: float) -> "SearchLmOracle":
        """With the words of a table."""
        members = [(UNKNOWN_WORD, 0.0)] * (len(table.spellings) if table else 0)
        for each in table.members if table else ():
            number = UNKNOWN_WORD
            if each.word_class in self.classes:
                number = len(self.texts) + self.classes.index(each.word_class)
            members.append((number, each.added(unknown_cost)))
        return replace(self, members=members)

    @property
    def beam(self) -> float:
        """The history beam in the search's unit."""
        return _unit(self.history_beam)

    def cut_anew(self, words: int) -> int:
        """The same of another model's state."""
        known = len(self.texts)
        said = [UNKNOWN_WORD if known <= w < UNKNOWN_WORD else w for w in unpacked(words)]
        return self.cut(packed(said))

    def cut(self, words: int) -> int:
        """A state's longest end that some model knows."""
        if words not in self.cuts:
            said = unpacked(words)
            self.cuts[words] = packed(said[len(said) - self._longest(said) :])
        return self.cuts[words]

    def after(self, words: int, word: int) -> int:
        """The state after a word."""
        return self.cut(packed((*unpacked(words), self._known(word))))

    def paid(self, words: int, word: int) -> int:
        """What the search pays for a word."""
        limit = _unit(self.gain)
        price = self.price(words, word)
        return price if limit == math.inf else max(price, -int(limit))

    def price(self, words: int, word: int) -> int:
        """What a word costs, or END."""
        asked = words, self._known(word)
        if asked not in self.prices:
            self.prices[asked] = self._priced(*asked)
        return self.prices[asked] + fixed(self._added(word) * self.scale)

    def rest(self, text: Sequence[int]) -> int:
        """What the gain limit took of a text."""
        total, words = 0, self.cut(START_WORD)
        for word in text:
            total += self.price(words, word) - self.paid(words, word)
            words = self.after(words, word)
        return total

    def _known(self, word: int) -> int:
        behind = word - len(self.texts)
        if behind < 0:
            return word
        return self.members[behind][0] if behind < len(self.members) else UNKNOWN_WORD

    def _added(self, word: int) -> float:
        behind = word - len(self.texts)
        return self.members[behind][1] if 0 <= behind < len(self.members) else 0.0

    def _priced(self, words: int, word: int) -> int:
        said, log_prob = unpacked(words), MINUS_INFINITY
        for model, share in zip(self.large, self.shares, strict=True):
            if self._is_class(word) and (self._text(word),) not in model.costs:
                continue
            cost = self._cost(model, said, word, self._text) / COST_STEPS
            log_prob = log_add(log_prob, math.log(share) - cost)
        small = self._cost(self.small, said, word, self._plain_text) / COST_STEPS
        return fixed(-log_prob * self.scale) - fixed(small * self.scale)

    def _longest(self, said: tuple[int, ...]) -> int:
        """How many of the last words some model can tell from others."""
        of_small = len(_state(self.small, self._said(self.small, said, self._plain_text)))
        return max(
            of_small,
            *(len(_state(each, self._said(each, said, self._text))) for each in self.large),
        )

    def _cost(
        self, model: BackoffModel, said: tuple[int, ...], word: int, text_of: Callable[[int], str]
    ) -> float:
        text = "</s>" if word == END else text_of(word)
        return model.cost(_state(model, self._said(model, said, text_of)), text)

    def _said(
        self, model: BackoffModel, words: Sequence[int], text_of: Callable[[int], str]
    ) -> tuple[str, ...]:
        """The texts of words, as a model knows them: its unknown word for those that it lacks."""
        unknown = next((each for each in ("<unk>", "<UNK>") if each in model.words), "")
        texts = ["<s>" if word == START_WORD else text_of(word) for word in words]
        return tuple(text if text in model.words or text == "<s>" else unknown for text in texts)

    def _plain_text(self, word: int) -> str:
        """The same to the small model, which knows no classes."""
        return "" if self._is_class(word) else self._text(word)

    def _is_class(self, word: int) -> bool:
        return len(self.texts) <= word < UNKNOWN_WORD

    def _text(self, word: int) -> str:
        if self._is_class(word):
            return class_token(self.classes[word - len(self.texts)])
        return "" if word == UNKNOWN_WORD else self.texts[word]


def _unit(nats: float) -> float:
    return math.inf if nats == math.inf else round(nats * 2.0**FRACTION_BITS)


def _state(model: BackoffModel, said: tuple[str, ...]) -> tuple[str, ...]:
    return said and model.state(said)
