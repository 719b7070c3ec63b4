"""Entropy pruning (Stolcke 1998): drop the n-grams without which the model changes least.

An n-gram costs as much as the relative entropy between the model with it and without it, equation 3
of the source. How likely a history is, is taken from its counts: Kneser-Ney's lower orders are no
estimate of that.
"""

from collections.abc import Sequence

import numpy as np

from earshot.language.ngrams.counts import Floats
from earshot.language.ngrams.levels import Mask
from earshot.language.ngrams.model import NEARLY_NOTHING, NGramModel, normalizing_back_offs

HALVINGS = 60


def prune(model: NGramModel, most: int) -> NGramModel:
    """The model with at most ``most`` n-grams; single words stay, whatever their number.

    What a longer n-gram that stays begins or ends with stays too.
    """
    if model.num_ngrams <= most or model.order == 1:
        return model
    dear = [losses(model, n) for n in range(2, model.order + 1)]
    return _without(model, _keep(model, dear, _threshold(model, dear, most)))


def losses(model: NGramModel, n: int) -> Floats:
    """(N,): by how many nats a word the model gets worse without each n-gram of order n."""
    level, probs = model.levels[n], model.probs[n]
    lower = model.probs[n - 1][level.suffixes]
    size = len(model.levels[n - 1])
    left = np.maximum(1.0 - np.bincount(level.contexts, probs, size), NEARLY_NOTHING)
    left_lower = np.maximum(1.0 - np.bincount(level.contexts, lower, size), NEARLY_NOTHING)
    left, left_lower = left[level.contexts], left_lower[level.contexts]
    now = np.log(left / left_lower)
    then = np.log((left + probs) / (left_lower + lower))
    history = model.counts[n - 1][level.contexts] / model.counts[0][0]
    ours = probs * (np.log(probs) - np.log(lower) - then)
    loss: Floats = history * (ours + left * (now - then))
    return loss


def _threshold(model: NGramModel, dear: Sequence[Floats], most: int) -> float:
    """The lowest loss to keep n-grams at, so that few enough are left."""
    dearest = max(float(loss.max(initial=0.0)) for loss in dear)
    # Above the dearest, also where that costs nothing: there only single words stay.
    low, high = 0.0, float(np.nextafter(dearest, np.inf))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if sum(int(mask.sum()) for mask in _keep(model, dear, middle)[1:]) > most:
            low = middle
        else:
            high = middle
    return high


def _keep(model: NGramModel, dear: Sequence[Floats], threshold: float) -> list[Mask]:
    """The n-grams that stay, by order."""
    masks = [np.ones(1, bool), np.ones(len(model.levels[1]), bool)]
    masks += [loss >= threshold for loss in dear]
    for n in range(model.order, 2, -1):
        level = model.levels[n]
        masks[n - 1][level.contexts[masks[n]]] = True
        masks[n - 1][level.suffixes[masks[n]]] = True
    return masks


def _without(model: NGramModel, masks: Sequence[Mask]) -> NGramModel:
    levels = [model.levels[0]]
    for mask, level in zip(masks[1:], model.levels[1:], strict=True):
        numbers = (np.cumsum(masks[len(levels) - 1]) - 1).astype(np.int32)
        levels.append(level.only(mask, numbers))
    probs = [values[mask] for values, mask in zip(model.probs, masks, strict=True)]
    counts = [values[mask] for values, mask in zip(model.counts, masks, strict=True)]
    back_offs = normalizing_back_offs(levels, probs)
    return NGramModel(model.words, levels, probs, back_offs, counts)
