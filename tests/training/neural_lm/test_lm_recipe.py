"""A recipe is read, or what is wrong with it is named."""

from pathlib import Path

import pytest

from earshot.training import neural_lm
from earshot.training.errors import RecipeError
from earshot.training.neural_lm.recipe import load_lm_recipe

TEXT = """
name = "some"
work_dir = "../runs"
held_out = ["c.txt"]
[[texts]]
path = "a.txt"
share = 0.8
[[texts]]
path = "b.txt"
share = 0.2
[network]
size = 64
[optimiser]
batch = 4
"""


def test_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "recipes").mkdir()
    path = tmp_path / "recipes" / "some.toml"
    path.write_text(TEXT)
    recipe = load_lm_recipe(path)
    assert recipe.work_dir == tmp_path / "runs"
    assert [text.path for text in recipe.texts] == [path.parent / "a.txt", path.parent / "b.txt"]
    assert [text.share for text in recipe.texts] == [0.8, 0.2]
    assert recipe.held_out == (path.parent / "c.txt",)
    assert (recipe.network.size, recipe.optimiser.batch) == (64, 4)


def test_texts_are_relative_to_the_data(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text(TEXT)
    recipe = load_lm_recipe(path, tmp_path / "texts")
    assert recipe.work_dir == tmp_path.parent / "runs"
    assert [text.path.parent for text in recipe.texts] == [tmp_path / "texts"] * 2
    assert recipe.held_out == (tmp_path / "texts" / "c.txt",)


def test_the_bundled_recipe_is_one():
    path = Path(neural_lm.__file__).parent / "recipes" / "bundled.toml"
    recipe = load_lm_recipe(path, Path("/data"))
    assert recipe.name == "bundled"
    assert {file.parent for _, file in recipe.data_files} == {Path("/data")}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('name = "some"', "", "'name'"),
        ('name = "some"', 'name = "some"\ncolour = 1', "unknown keys colour"),
        ("share = 0.8", "share = 0.0", r"texts\.share: has to be above 0"),
        ("share = 0.8", "share = nan", r"texts\.share: nan is not a finite number"),
        ("share = 0.8", "part = 0.8", "texts: unknown keys part"),
        ("size = 64", "size = 63", "multiple of heads"),
        ("size = 64", "width = 64", "width"),
        ("batch = 4", "warmup_steps = 0", "warmup_steps"),
        ('name = "some"', "name = 5", "name: 5 is not text"),
        ('held_out = ["c.txt"]', "held_out = 5", "held_out: 5 is not a list"),
        ("batch = 4", "batch = 0", r"optimiser\.batch: has to be at least 1"),
        ("batch = 4", 'batch = "4"', r"optimiser\.batch: '4' is not a whole number"),
        ("batch = 4", "save_every = 0", r"optimiser\.save_every"),
        ("batch = 4", "peak_rate = inf", r"optimiser\.peak_rate"),
        ("size = 64", "size = 64.0", r"network\.size: 64\.0 is not a whole number"),
        ("batch = 4", 'precision = "half"', "'half' is not float32 or bfloat16"),
        ("[network]", "[network", "cannot read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, complaint):
    path = tmp_path / "some.toml"
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(RecipeError, match=complaint):
        load_lm_recipe(path)


def test_a_recipe_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(RecipeError, match="cannot read"):
        load_lm_recipe(tmp_path / "none.toml")


@pytest.mark.parametrize("section", ["texts = 5", "network = 5", 'optimiser = "x"', "texts = [5]"])
def test_sections_that_are_none_are_named(tmp_path, section):
    path = tmp_path / "some.toml"
    path.write_text(f'name = "some"\nwork_dir = "runs"\n{section}\n')
    with pytest.raises(RecipeError, match=section.split(" =")[0]):
        load_lm_recipe(path)
