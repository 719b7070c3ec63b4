"""Random n-gram models, their ARPA text, and what words cost by the definition of back-off."""

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from earshot.decoder_kernels.lm.lm_image import COST_STEPS, NEVER

NGram = tuple[str, ...]
STEP = math.log10(math.e) / COST_STEPS
"""A step of an image's costs as ARPA files count."""


@dataclass(frozen=True)
class BackoffModel:
    """Costs and back-offs of n-grams, in an image's steps; a back-off of 0 is not written."""

    order: int
    costs: dict[NGram, float]
    back_offs: dict[NGram, float]

    def arpa(self) -> str:
        """The model's text."""
        lines = ["\\data\\"]
        orders = [[g for g in self.costs if len(g) == n] for n in range(1, self.order + 1)]
        lines += [f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(orders, start=1)]
        for n, ngrams in enumerate(orders, start=1):
            lines += ["", f"\\{n}-grams:", *map(self._line, ngrams)]
        return "\n".join([*lines, "", "\\end\\", ""])

    def write(self, folder: Path) -> Path:
        """The text as a file."""
        path = folder / "model.arpa"
        path.write_text(self.arpa())
        return path

    def _line(self, ngram: NGram) -> str:
        back_off = self.back_offs.get(ngram, 0)
        end = f"\t{-back_off * STEP:.12g}" if back_off and len(ngram) < self.order else ""
        return f"{-self.costs[ngram] * STEP:.12g}\t{' '.join(ngram)}{end}"

    def cost(self, history: Sequence[str], word: str) -> float:
        """The longest n-gram that is listed, and the back-offs to it."""
        context = tuple(history)[max(0, len(history) - self.order + 1) :]
        if word not in self.words:
            unknown = [(each,) for each in ("<unk>", "<UNK>") if (each,) in self.costs]
            if not unknown:
                return self._back_off_all(context) + NEVER
            word = unknown[0][0]
        paid = 0.0
        while context and (*context, word) not in self.costs:
            paid += self.back_offs.get(context, 0)
            context = context[1:]
        return paid + self.costs[(*context, word)]

    def state(self, history: Iterable[str]) -> NGram:
        """The longest end of a history that another word's cost can depend on."""
        words = tuple(history)
        words = words[max(0, len(words) - self.order + 1) :]
        while words and not self._matters(words):
            words = words[1:]
        return words

    @property
    def words(self) -> set[str]:
        """The vocabulary."""
        return {ngram[0] for ngram in self.costs if len(ngram) == 1}

    def _matters(self, context: NGram) -> bool:
        longer = any(len(g) > len(context) and g[: len(context)] == context for g in self.costs)
        return longer or bool(self.back_offs.get(context))

    def _back_off_all(self, context: NGram) -> float:
        return sum(self.back_offs.get(context[i:], 0) for i in range(len(context)))


def random_model(
    seed: int, order: int | None = None, *, whole: bool = True, size: int = 7
) -> BackoffModel:
    """A model with holes, gains as back-offs, and words that nothing follows.

    whole: all costs are whole steps, so that an image loses nothing.
    """
    draw = random.Random(seed)
    order = order or draw.randint(1, 5)
    words = [f"w{i}" for i in range(size)] + ["<s>", "</s>"]
    words += [["<unk>"], ["<UNK>"], []][seed % 3]
    number = draw.randint if whole else draw.uniform
    costs: dict[NGram, float] = {(word,): number(0, 20_000) for word in words}
    for n in range(2, order + 1):
        for _ in range(draw.choice([0, 3, 30, 100])):
            costs[tuple(draw.choices(words, k=n))] = number(0, 20_000)
    back_offs = {
        ngram: number(-3_000, 9_000)
        for ngram in costs
        if len(ngram) < order and draw.random() < 0.7
    }
    return BackoffModel(order, costs, back_offs)


def crowded_model(seed: int, order: int = 4) -> BackoffModel:
    """A model whose contexts have as many children as a state says itself, and some more."""
    draw = random.Random(seed)
    words = [f"w{i}" for i in range(50)]
    costs: dict[NGram, float] = {(word,): draw.randint(0, 20_000) for word in words}
    for n in range(2, order + 1):
        for context in itertools.product(words[:3], repeat=n - 1):
            for word in draw.sample(words, draw.choice([0, 1, 2, 13, 14, 15, 16, 17, 50])):
                costs[(*context, word)] = draw.randint(0, 20_000)
    back_offs = {ngram: draw.randint(-3_000, 9_000) for ngram in costs if len(ngram) < order}
    return BackoffModel(order, costs, back_offs)
