"""ARPA files: what is written is what is read, by the book too."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lm_cases import ORDERS, TEXTS, Sentences, few, numbered

from earshot.decoder_kernels.errors import LanguageModelError
from earshot.language.ngrams import arpa_file
from earshot.language.ngrams.arpa import read_arpa
from earshot.language.ngrams.arpa_file import write_arpa
from earshot.language.ngrams.kneser_ney import estimate
from earshot.language.ngrams.model import NGramModel
from earshot.language.ngrams.perplexity import ArpaScores
from earshot.language.ngrams.pruning import prune
from earshot.language.ngrams.text import START, Text


def a_model(sentences: Sentences = ("abca", "cab"), order: int = 3) -> NGramModel:
    words, ids = numbered(sentences)
    return estimate(words, np.array(ids, np.int32), order)


@few
@given(TEXTS, TEXTS, ORDERS, st.integers(7, 40))
def test_a_file_says_by_the_book_what_the_model_says(
    tmp_path_factory: pytest.TempPathFactory,
    sentences: Sentences,
    others: Sentences,
    order: int,
    most: int,
) -> None:
    model = prune(a_model(sentences, order), most)
    path = tmp_path_factory.mktemp("arpa") / "lm.arpa"
    write_arpa(path, model)
    ids = Text.of(others).in_words_of(model.words)
    probs = model.token_probs(ids)[ids != START]
    scores = ArpaScores(read_arpa(path))
    costs = [cost for sentence in others for cost in scores.costs(sentence)]
    told = [0.0 if cost is None else math.exp(-cost) for cost in costs]
    np.testing.assert_allclose(told, probs, rtol=1e-5)


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.arpa.gz", "two.arpa.gz"):
        write_arpa(tmp_path / name, a_model())
    assert (tmp_path / "one.arpa.gz").read_bytes() == (tmp_path / "two.arpa.gz").read_bytes()
    assert read_arpa(tmp_path / "one.arpa.gz").order == 3


def test_lines_that_are_written_together_make_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for lines in (1, 2, 3, 1000):
        monkeypatch.setattr(arpa_file, "LINES_PER_WRITE", lines)
        write_arpa(tmp_path / f"{lines}.arpa", a_model())
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_an_older_file_stays_where_the_new_one_fails(tmp_path: Path) -> None:
    def fail(done: float) -> None:
        raise KeyboardInterrupt

    (tmp_path / "lm.arpa").write_text("older")
    with pytest.raises(KeyboardInterrupt):
        write_arpa(tmp_path / "lm.arpa", a_model(), fail)
    assert [path.name for path in tmp_path.iterdir()] == ["lm.arpa"]
    assert (tmp_path / "lm.arpa").read_text() == "older"


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LanguageModelError, match="nowhere"):
        write_arpa(tmp_path / "nowhere" / "lm.arpa", a_model())
