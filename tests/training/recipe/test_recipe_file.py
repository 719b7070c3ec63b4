"""What recipes have in common with others, and say themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.training.errors import RecipeError
from earshot.training.recipe.recipe_file import read_with_common


def write(folder: Path, **files: str) -> Path:
    """Files by their names; the recipe is the last one."""
    for name, text in files.items():
        path = folder / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
    return path


def test_a_recipe_overrules_later_files_and_these_the_earlier_ones(tmp_path: Path) -> None:
    recipe = write(
        tmp_path,
        first="[a]\none = 1\ntwo = 1\nthree = 1\n[a.deep]\nx = 1\ny = 1\n[b]\nz = 1",
        second="[a]\ntwo = 2\nthree = 2\n[a.deep]\ny = 2",
        recipe='common = ["first.toml", "second.toml"]\nname = "r"\n[a]\nthree = 3',
    )
    assert read_with_common(recipe) == {
        "name": "r",
        "a": {"one": 1, "two": 2, "three": 3, "deep": {"x": 1, "y": 2}},
        "b": {"z": 1},
    }


def test_what_is_no_table_is_overruled_as_a_whole(tmp_path: Path) -> None:
    recipe = write(
        tmp_path, first="a = [1, 2]\nb.c = 1", recipe='common = ["first.toml"]\na = [3]\nb = 2'
    )
    assert read_with_common(recipe) == {"a": [3], "b": 2}


@pytest.mark.parametrize(
    ("common", "first", "error"),
    [
        ('"first.toml"', "", "common is a list of files"),
        ("[1]", "", "common is a list of files"),
        (r'["\u0000"]', "", "cannot read"),
        ('["missing.toml"]', "", "cannot read .*missing.toml"),
        ('["first.toml"]', "a = ", "cannot read .*first.toml"),
        ('["first.toml"]', 'common = ["first.toml"]', "first.toml: common belongs into recipes"),
    ],
)
def test_a_common_file_that_cannot_be_taken_is_refused(
    tmp_path: Path, common: str, first: str, error: str
) -> None:
    recipe = write(tmp_path, first=first, recipe=f"common = {common}")
    with pytest.raises(RecipeError, match=error):
        read_with_common(recipe)
