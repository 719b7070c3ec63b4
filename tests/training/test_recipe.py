"""Recipe files: what is read, and what is refused by name."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from earshot.training.errors import RecipeError
from earshot.training.recipe.config import (
    NetworkConfig,
    Recipe,
    load_recipe,
)
from earshot.training.recipe.optimiser_config import OptimiserConfig
from earshot.training.recipe.schedule import learning_rate
from earshot.training.stages.stage_file import load_stages

RECIPE = """
name = "small"
[data]
train_manifest = "speech/train.tsv"
dev_manifest = "speech/dev.tsv"
noise_manifest = "/noise.tsv"
work_dir = "work"
more_manifests = ["spoken/manifest.tsv"]
[data.draws_first_epoch]
digits = 2.0
[data.draws_per_epoch]
books = 1.0
"""


PHONES = '\n[phones]\nlexicon = "words"\n'


def read(folder: Path, text: str) -> Recipe:
    path = folder / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return load_recipe(path)


def test_paths_are_relative_to_the_recipe(tmp_path: Path) -> None:
    data = read(tmp_path, RECIPE).data
    assert data.train_manifest == tmp_path / "speech" / "train.tsv"
    assert data.noise_manifest == Path("/noise.tsv")
    assert data.more_manifests == (tmp_path / "spoken" / "manifest.tsv",)


@pytest.fixture(scope="module")
def recipes(repository_dir: Path) -> dict[str, Recipe]:
    """Those that come along, by the names of their files."""
    folder = repository_dir / "training" / "recipes"
    stages = {path.stem: load_stages(path) for path in folder.glob("*.toml")}
    return {name: each[0] for name, each in stages.items() if len(each) == 1}


def test_stages_that_come_along_hear_with_the_same_ears(repository_dir: Path) -> None:
    path = repository_dir / "training" / "recipes" / "whisper-tiny.toml"
    first, *others = load_stages(path)
    assert first.distil is not None
    assert first.distil.alone
    assert first.start is not None
    for stage in others:
        assert stage.distil is not None
        assert stage.phones is not None
        assert (first.start.whisper, first.network.narrow) == (stage.teacher, stage.network.narrow)
        assert first.data.work_dir == stage.data.work_dir  # where the teacher's frames are


def test_the_decoder_of_whisper_learns_last_and_its_vocabulary_never(
    recipes: dict[str, Recipe],
) -> None:
    names = ("heads", "decoder", "sentences")
    heads, *later = (recipes[f"whisper-tiny-{name}"].optimiser for name in names)
    assert heads.rate_of("decoder") == 0.0
    assert all(each.rate_of("decoder") > 0.0 for each in later)
    assert {each.rate_of("vocabulary") for each in (heads, *later)} == {0.0}


def test_the_recipes_that_come_along_are_whole(recipes: dict[str, Recipe]) -> None:
    assert recipes["bundled"].name == "earshot-english-small"
    assert recipes["gpu"].waveform is not None
    assert all(recipe.data.draws_per_epoch["librispeech"] > 0 for recipe in recipes.values())


def test_a_model_that_hears_phones_keeps_its_last_weights(recipes: dict[str, Recipe]) -> None:
    hearing = [each for each in recipes.values() if each.phones and each.phones.block is None]
    assert len(hearing) >= 4
    assert {each.checkpoints.keep for each in hearing} == {"last"}


@pytest.mark.parametrize("name", ["gpu", "gpu-second"])
def test_the_larger_model_hears_and_recommends_what_the_bundled_one_does(
    recipes: dict[str, Recipe], name: str
) -> None:
    larger, bundled = recipes[name], recipes["bundled"]
    assert larger.data.draws_per_epoch.keys() == bundled.data.draws_per_epoch.keys()
    for said in ("joined_corpora", "narrow_corpora", "whole_corpora"):
        assert getattr(larger.data, said) == getattr(bundled.data, said)
    assert len(larger.data.more_manifests) == len(bundled.data.more_manifests)
    for field in fields(NetworkConfig):
        if field.name.startswith(("decoding_", "lead_in", "flush_")):
            assert getattr(larger.network, field.name) == getattr(bundled.network, field.name)


def test_a_second_round_goes_on_with_the_same_network(recipes: dict[str, Recipe]) -> None:
    first, second = recipes["gpu"], recipes["gpu-second"]
    assert second.start is not None
    assert second.network == first.network
    assert second.data.work_dir != first.data.work_dir  # or it would go on with the first run


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("\n[optimiser]\npeak_speed = 1.0\n", "peak_speed"),
        ("\n[kitchen]\nsalt = 1.0\n", "kitchen"),
        ("\n[optimiser]\nwarmup_steps = 9\ndecay_from_step = 5\n", "warmup_steps"),
        ("\n[augment]\ntempo = [1.2, 0.8]\n", r"augment\.tempo"),
        ("\n[augment\n", "cannot read"),
        (f"\n[optimiser]\npeak_rate = {'9' * 5000}\n", "cannot read"),
        (f"\n[optimiser]\npeak_rate = {'[' * 3000}\n", "cannot read"),
        (f"\n[optimiser]\npeak_rate = {'9' * 400}\n", r"peak_rate: 9+\.\.\.9+ is not a finite"),
        (f"\n[optimiser]\npeak_rate = 0x{'f' * 5000}\n", r"peak_rate: .* is not a finite"),
        (
            f"\n[optimiser]\ntotal_steps = 0x{'f' * 5000}\n",
            r"total_steps: .* is not a whole number",
        ),
        ('\n[start]\nmodel = "\\u0000"\n', r"start\.model: .* is not a path"),
        ('\n[optimiser]\nprecision = "int8"\n', r"optimiser\.precision"),
        ("\n[waveform]\nspeeds = []\n", r"waveform\.speeds"),
        ("\n[waveform]\nclip_speeds = [9.0]\n", r"waveform\.clip_speeds"),
        ("\n[waveform]\nsimulated_rooms = 0\n", "no rooms"),
        ("\n[waveform]\nbabble_share = 0.9\n", "babble_share"),
        ("\n[waveform]\n[augment]\nclip_trim_probability = 0.1\n", "clip_trim_probability"),
        ("\n[augment]\nclip_trim_db = [-1.0, 3.0]\n", "clip_trim_db"),
        ('\n[checkpoints]\nkeep = "first"\n', r"checkpoints\.keep"),
        ('\n[optimiser]\ntotal_steps = "40"\n', r"optimiser\.total_steps: '40'"),
        ("\n[optimiser]\ntotal_steps = 9000.0\n", r"optimiser\.total_steps: 9000\.0"),
        ("\n[optimiser]\npeak_rate = nan\n", r"optimiser\.peak_rate: nan"),
        ("\n[optimiser]\npeak_rate = -1\n", r"optimiser\.peak_rate: has to be above 0"),
        ("\n[optimiser]\nbatch_seconds = -4\n", r"optimiser\.batch_seconds"),
        ("\n[optimiser]\nweight_decay = true\n", r"optimiser\.weight_decay: True"),
        ("\n[optimiser]\nlabel_smoothing = 1.0\n", r"optimiser\.label_smoothing"),
        ("\n[augment]\ntempo = [1.0]\n", r"augment\.tempo: \[1\.0\] is not a list of 2"),
        ("\n[augment]\ntempo = 1.0\n", r"augment\.tempo: 1\.0 is not a list"),
        ("\n[augment]\nwarp = [0.0, 1.0]\n", r"augment\.warp: has to be above 0"),
        ("\n[augment]\nnoise_probability = 1.5\n", r"augment\.noise_probability"),
        ("\n[augment]\nfreq_mask_bins = 90\n", r"augment\.freq_mask_bins"),
        ('\n[units]\ntokens = "10"\n', r"units\.tokens"),
        ("\n[units]\npieces = 10\n", "units: unknown keys pieces; there are tokens"),
        ('\n[network]\nblock_norm = "no"\n', r"network\.block_norm: 'no' is not true or false"),
        ('\n[network]\ninput_layer = "conv9"\n', r"network\.input_layer: 'conv9' is not conv"),
        ("\n[checkpoints]\nsave_every = 0\n", r"checkpoints\.save_every"),
        ("\n[checkpoints]\naverage = 0\n", r"checkpoints\.average"),
        ("\n[start]\nmodel = 5\n", r"start\.model: 5 is not a path"),
        (f'{PHONES}block = "1"\n', r"phones\.block: '1'"),
        (f"{PHONES}rate = 0\n", r"phones\.rate"),
        (f"{PHONES}rate = 2\nblock = 3\n", r"phones\.rate"),
        (f"{PHONES}sequence_from_step = -3\n", r"phones\.sequence_from_step"),
        (f"{PHONES}sequence_ctc_share = nan\n", r"phones\.sequence_ctc_share"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change: str, named: str) -> None:
    with pytest.raises(RecipeError, match=named):
        read(tmp_path, RECIPE + change)


def test_a_recipe_needs_data(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"\[data\]"):
        read(tmp_path, 'name = "small"\n')


def test_the_rate_rises_stays_and_falls_to_nothing() -> None:
    config = OptimiserConfig(peak_rate=1.0, warmup_steps=10, decay_from_step=100, total_steps=200)
    rates = [learning_rate(step, config) for step in range(201)]
    assert rates[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert set(rates[10:101]) == {1.0}
    assert all(later < earlier for earlier, later in pairwise(rates[100:]))
    assert rates[200] == 0.0


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("books = 1.0", 'books = "x"', r"data\.draws_per_epoch\.books: 'x' is not a finite number"),
        ("books = 1.0", "books = -1.0", r"data\.draws_per_epoch"),
        ("books = 1.0", "books = 0.0", r"data\.draws_per_epoch"),
        ("digits = 2.0", "", r"data\.draws_first_epoch"),
        ("[data.draws_per_epoch]\nbooks = 1.0", "[other]", "unknown sections other"),
        ('"speech/train.tsv"', "5", r"data\.train_manifest: 5 is not a path"),
        ('["spoken/manifest.tsv"]', '"spoken/manifest.tsv"', r"data\.more_manifests"),
        ('name = "small"', "name = 5", "name: 5 is not text"),
        ('name = "small"', 'name = "a/b"', "name: 'a/b'"),
        ('name = "small"', r'name = "\u0000"', "cannot be the name of a folder"),
    ],
)
def test_mistakes_in_what_every_recipe_has_are_named(
    tmp_path: Path, old: str, new: str, named: str
) -> None:
    assert old in RECIPE
    with pytest.raises(RecipeError, match=named):
        read(tmp_path, RECIPE.replace(old, new))


@pytest.mark.parametrize("data", ["5", "[1]", '"x"'])
def test_data_that_are_no_table_are_named(tmp_path: Path, data: str) -> None:
    with pytest.raises(RecipeError, match=r"data: .* is not a table"):
        read(tmp_path, f'name = "small"\ndata = {data}\n')


def test_draws_that_are_no_table_are_named(tmp_path: Path) -> None:
    text = RECIPE.split("[data.draws_per_epoch]")[0].replace(
        'work_dir = "work"', 'work_dir = "work"\ndraws_per_epoch = 3'
    )
    with pytest.raises(RecipeError, match=r"data\.draws_per_epoch: 3 is not a table"):
        read(tmp_path, text)


def test_whole_numbers_are_numbers(tmp_path: Path) -> None:
    recipe = read(tmp_path, RECIPE + "\n[optimiser]\npeak_rate = 1\n")
    assert isinstance(recipe.optimiser.peak_rate, float)


def test_speeds_without_the_true_one_are_refused(tmp_path: Path) -> None:
    text = RECIPE.replace(
        "[data.draws_first_epoch]", "speeds = [0.9, 1.1]\n[data.draws_first_epoch]"
    )
    with pytest.raises(RecipeError, match=r"data\.speeds"):
        read(tmp_path, text)


def test_a_whisper_has_no_block_for_a_side_head(tmp_path: Path) -> None:
    text = RECIPE + PHONES + 'block = 2\n[network]\nencoder = "whisper"\n'
    with pytest.raises(RecipeError, match=r"phones\.block"):
        read(tmp_path, text)
