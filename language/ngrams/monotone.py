"""Back-off models in which no shortcut is cheaper than the longest n-gram.

A static graph lets a path back off although the model knows the longer n-gram, and some texts cost
less that way: what was paid in the graph is then not what the model says. Costs are changed until
no such path pays.
"""

from dataclasses import replace

import numpy as np

from earshot.language.ngrams.levels import Level, Longs
from earshot.language.ngrams.stepped_model import SteppedModel


def monotone(model: SteppedModel) -> SteppedModel:
    """The model with costs and back-offs lowered to what backing off early comes to.

    With h' for h without its oldest word, order by order::

        c(h, w) := min(c(h, w), bo(h) + c(h', w))
        bo(h w) := min(bo(h w), bo(h) + c(h', w) - c(h, w))

    By induction over the rest of a text, no path is then cheaper than that of longest n-grams. A
    back-off below 0 that would make a cost negative, which no image can say, is raised first.
    """
    costs, back_offs = list(model.costs), list(model.back_offs)
    for n in range(2, model.order + 1):
        level = model.levels[n]
        shorter = costs[n - 1][level.suffixes]
        back_offs[n - 1] = np.maximum(back_offs[n - 1], -_least(level, shorter, back_offs[n - 1]))
        by_back_off = back_offs[n - 1][level.contexts] + shorter
        costs[n] = np.minimum(costs[n], by_back_off)
        if n < model.order:
            back_offs[n] = np.minimum(back_offs[n], by_back_off - costs[n])
    return replace(model, costs=costs, back_offs=back_offs)


def _least(level: Level, shorter: Longs, back_offs: Longs) -> Longs:
    """The least cost, one order below, of the words listed after each context.

    Where none is listed, so much that no back-off is raised.
    """
    least = -back_offs
    begins = np.flatnonzero(np.diff(level.contexts, prepend=-1))
    if len(begins):
        least[level.contexts[begins]] = np.minimum.reduceat(shorter, begins)
    return least
