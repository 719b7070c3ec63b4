"""Random back-off models with holes and gains, and what texts cost by dictionaries alone."""

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from earshot.language.ngrams.arpa import Arpa, NGram
from earshot.language.ngrams.levels import word_columns
from earshot.language.ngrams.stepped_model import SteppedModel

WORDS = ("a", "b", "c")
NATS = math.log(10.0)


def random_arpa(seed: int, order: int | None = None, words: Sequence[str] = WORDS) -> Arpa:
    """A model of random n-grams; contexts, suffixes and the start of sentences may be missing."""
    draw = random.Random(seed)
    texts = ["<s>", "</s>", *words] if draw.random() < 0.9 else ["</s>", *words]
    ends = [i for i, text in enumerate(texts) if text != "<s>"]
    starts = [i for i, text in enumerate(texts) if text != "</s>"]
    inner = [i for i in ends if texts[i] != "</s>"]
    orders = [{(i,): _drawn(draw) for i in range(len(texts))}]
    for n in range(2, (order or draw.randint(1, 4)) + 1):
        every = list(itertools.product(starts, *[inner] * (n - 2), ends))
        chosen = draw.sample(every, min(len(every), draw.choice([0, 3, 9, 20])))
        orders.append({ngram: _drawn(draw) for ngram in chosen})
    return Arpa(texts, orders)


def _drawn(draw: random.Random) -> NGram:
    return NGram(-draw.uniform(0, 3), draw.choice([0.0, draw.uniform(-2, 1)]))


@dataclass(frozen=True)
class Costs:
    """Costs and back-offs of n-grams, in steps or in nats."""

    order: int
    costs: dict[tuple[str, ...], float]
    back_offs: dict[tuple[str, ...], float]

    @classmethod
    def of(cls, model: SteppedModel) -> "Costs":
        """What a stepped model lists."""
        costs: dict[tuple[str, ...], float] = {}
        back_offs: dict[tuple[str, ...], float] = {}
        for n in range(1, model.order + 1):
            texts = [
                tuple(model.words[word] for word in row)
                for row in word_columns(model.levels, n).tolist()
            ]
            costs |= dict(zip(texts, model.costs[n].tolist(), strict=True))
            if n < model.order:
                back_offs |= dict(zip(texts, model.back_offs[n].tolist(), strict=True))
        return cls(model.order, costs, back_offs)

    @classmethod
    def of_arpa(cls, arpa: Arpa) -> "Costs":
        """What a file lists, in nats."""
        rows = {
            tuple(arpa.words[word] for word in ngram): logs
            for ngrams in arpa.orders
            for ngram, logs in ngrams.items()
        }
        costs = {ngram: -logs.log10_prob * NATS for ngram, logs in rows.items()}
        back_offs = {ngram: -logs.log10_back_off * NATS for ngram, logs in rows.items()}
        return cls(arpa.order, costs, back_offs)

    @property
    def start(self) -> tuple[str, ...]:
        """The history at the start of a sentence."""
        return ("<s>",) if ("<s>",) in self.costs and self.order > 1 else ()

    def word(self, history: tuple[str, ...], word: str) -> float:
        """By the longest n-gram."""
        paid = 0.0
        while (*history, word) not in self.costs:
            if not history:
                return math.inf
            paid += self.back_offs.get(history, 0)
            history = history[1:]
        return paid + self.costs[*history, word]

    def sentence(self, words: Iterable[str], start: tuple[str, ...] | None = None) -> float:
        """Of a text and its end, by the longest n-grams."""
        total, history = 0.0, self.start if start is None else start
        for word in (*words, "</s>"):
            total += self.word(history, word)
            history = self.after(history, word)
        return total

    def cheapest(self, words: Iterable[str]) -> float:
        """The same if all may back off at any time, and forget for good."""
        found = {self.start: 0.0}
        for word in (*words, "</s>"):
            ahead: dict[tuple[str, ...], float] = {}
            for history, cost in found.items():
                for kept in self.ends(history):
                    paid = sum(
                        self.back_offs.get(history[i:], 0) for i in range(len(history) - len(kept))
                    )
                    after = self.after(kept, word)
                    ahead[after] = min(
                        ahead.get(after, math.inf), cost + paid + self.word(kept, word)
                    )
            found = ahead
        return min(found.values())

    def after(self, history: tuple[str, ...], word: str) -> tuple[str, ...]:
        """The words that the next one can depend on."""
        return (*history, word)[-(self.order - 1) :] if self.order > 1 else ()

    @staticmethod
    def ends(history: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
        """All ends of a history, itself and nothing included."""
        return (history[i:] for i in range(len(history) + 1))
