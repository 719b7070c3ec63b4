"""Texts in tokens: what they say, and when they are made anew."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from earshot.training.errors import CorpusError, NoPlace
from earshot.training.neural_lm.recipe import LmRecipe
from earshot.training.neural_lm.token_text import END, TokenTexts
from earshot.training.text_run.text_recipe import TextConfig


def with_text(recipe: LmRecipe, path: Path) -> LmRecipe:
    return replace(recipe, texts=(TextConfig(path, 1.0),))


def test_a_text_is_its_sentences_between_ends(recipe):
    texts = TokenTexts(recipe)
    for text, array in zip(recipe.texts, texts.arrays, strict=True):
        lines = [line for line in text.path.read_text().splitlines() if line]
        assert array[0] == array[-1] == END
        rows = np.split(array, np.flatnonzero(array == END))[1:-1]
        assert [texts.tokenizer.decode(row[1:].tolist()) for row in rows] == lines


def test_what_was_made_is_taken_until_a_text_changes(recipe):
    first = TokenTexts(recipe)
    made = recipe.work_dir / "said.txt.npy"
    before = made.stat().st_mtime_ns
    assert all(map(np.array_equal, TokenTexts(recipe).arrays, first.arrays))
    assert made.stat().st_mtime_ns == before
    recipe.texts[0].path.write_text("the cat sees nobody at all\n" * 20)
    assert not np.array_equal(TokenTexts(recipe).arrays[0], first.arrays[0])


def test_packed_texts_are_read(recipe, tmp_path):
    packed = tmp_path / "said.txt.gz"
    packed.write_bytes(gzip.compress(recipe.texts[0].path.read_bytes()))
    plain = TokenTexts(with_text(recipe, recipe.texts[0].path)).arrays[0]
    assert np.array_equal(TokenTexts(with_text(recipe, packed)).arrays[0], plain)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("bad.txt", b"\xff\xfe", "cannot read"),
        ("bad.txt.gz", b"no gzip", "cannot read"),
        ("bad.txt.xz", b"no xz", "cannot read"),
        ("empty.txt", b"", "no 34 tokens can be made"),
        ("short.txt", b"the cat\n", "no 34 tokens can be made"),
    ],
)
def test_texts_that_are_none_are_refused(recipe, tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=complaint):
        TokenTexts(with_text(recipe, tmp_path / name))


def test_a_text_that_is_not_there_is_refused(recipe, tmp_path):
    with pytest.raises(CorpusError, match="cannot read"):
        TokenTexts(with_text(recipe, tmp_path / "none.txt"))


def test_a_text_shorter_than_a_row_is_refused(recipe):
    longer = replace(recipe, network=replace(recipe.network, context=60_000))
    with pytest.raises(CorpusError, match="too short"):
        TokenTexts(longer)


def test_a_file_where_the_run_should_be_is_refused(recipe):
    recipe.work_dir.write_text("")
    with pytest.raises(NoPlace, match="run"):
        TokenTexts(recipe)
