"""Perplexity, on a model small enough to do it by hand."""

import math
from pathlib import Path

import pytest

from earshot.language.ngrams.arpa import read_arpa
from earshot.language.ngrams.perplexity import ArpaScores

ARPA = r"""
\data\
ngram 1=5
ngram 2=2

\1-grams:
-1 </s>
-99 <s> -0.5
-2 <unk>
-0.25 a -0.125
-0.75 b

\2-grams:
-0.5 <s> a
-0.0625 a </s>

\end\
"""


@pytest.fixture
def scores(tmp_path: Path) -> ArpaScores:
    (tmp_path / "lm.arpa").write_text(ARPA)
    return ArpaScores(read_arpa(tmp_path / "lm.arpa"))


def test_costs_back_off_where_the_longer_ngram_is_missing(scores: ArpaScores) -> None:
    costs = [cost and cost / math.log(10) for cost in scores.costs(["a", "b", "x", "a"])]
    assert costs == pytest.approx([0.5, 0.125 + 0.75, None, 0.25, 0.0625])


def test_unknown_words_are_counted_apart(scores: ArpaScores) -> None:
    found = scores.predict([["a"], ["x", "a"]])
    assert (found.sentences, found.words, found.unknown) == (2, 3, 1)
    log10 = (0.5 + 0.0625) + (0.25 + 0.0625)
    assert found.perplexity == pytest.approx(10 ** (log10 / 4))


def test_of_nothing_there_is_no_perplexity(scores: ArpaScores) -> None:
    assert math.isnan(scores.predict([]).perplexity)
