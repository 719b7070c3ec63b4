"""How well a neural language model predicts a text."""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path

from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.training.errors import CorpusError
from earshot.training.neural_lm.token_text import read_lines

SENTENCES_AT_ONCE = 256
MOST_NATS = 700.0  # a word: what is more, or no number, has no finite perplexity


def perplexity(scorer: SentenceScorer, path: Path, most: int = 1000) -> float:
    """Per word and end of sentence, each sentence by itself, of the first `most` sentences.

    As `earshot lm perplexity` counts, except that no word is unknown. Sentences longer than the
    context are left out. Infinite where the model says nothing sensible. Raises CorpusError for a
    text without one.
    """
    sentences = [line.split() for line in islice(read_lines(path), most)]
    total, count = 0.0, 0
    for first in range(0, len(sentences), SENTENCES_AT_ONCE):
        some = sentences[first : first + SENTENCES_AT_ONCE]
        for found in scorer.score([[words] for words in some]):
            for score in found or ():
                total += sum(score.words) + score.end
                count += len(score.words) + 1
    if not count:
        raise CorpusError(f"{path} has no sentence that fits the context")
    nats = -total / count
    return math.exp(nats) if nats < MOST_NATS else math.inf
