"""The files that a recipe needs where it is trained."""

from __future__ import annotations

import os
from pathlib import Path

from earshot.language.g2p.letters_to_phones import LETTERS_FILE
from earshot.language.g2p.lexicon import LEXICON_FILE
from earshot.models.neural_lm.lm_file import NEURAL_LM_FILE
from earshot.training.data.corpus import read_noise, read_rooms, read_speech
from earshot.training.errors import RecipeError
from earshot.training.pieces import folder_files
from earshot.training.recipe.config import PhoneConfig, Recipe

# Of a model's directory: what finds words, larger than the weights and nothing to train from.
NOT_WEIGHTS = ("lm.graph.xz", NEURAL_LM_FILE, LEXICON_FILE, LETTERS_FILE)


def recipe_files(recipe: Recipe) -> list[Path]:
    """Manifests and the recordings they name, the weights to start from, a lexicon.

    Raises RecipeError for a recipe that synthesises while it is prepared, CorpusError for a
    manifest that is missing.
    """
    data = recipe.data
    if data.synthetic_count:
        raise RecipeError(
            "data.synthetic_count: make the speech first, with earshot synthesize, and name its "
            "manifest in data.more_manifests"
        )
    manifests = [data.train_manifest, *data.more_manifests, data.dev_manifest]
    rooms = recipe.waveform.measured_rooms if recipe.waveform is not None else ()
    sounds = [*read_noise(data.noise_manifest), *read_rooms(data.noise_manifest, rooms)]
    recordings = [each.path for manifest in manifests for each in read_speech(manifest)]
    files = {*manifests, data.noise_manifest, *recordings, *(sound.path for sound in sounds)}
    if recipe.start is not None:
        start = folder_files(recipe.start.model).items()
        files.update(path for name, path in start if name not in NOT_WEIGHTS)
    if recipe.phones is not None:
        files.update(spoken_by(recipe.phones))
    return sorted(files)


def common_root(recipe: Recipe, recipe_path: Path) -> Path:
    """The folder that holds the recipe and all it names: on every machine its own.

    A recipe with relative paths finds its files there wherever the checkout is.
    """
    data = recipe.data
    manifests = (data.train_manifest, data.dev_manifest, data.noise_manifest, *data.more_manifests)
    folders = [recipe_path.resolve().parent, *(manifest.parent for manifest in manifests)]
    if recipe.start is not None:
        folders.append(recipe.start.model)
    if recipe.phones is not None:
        folders.extend(each.parent for each in spoken_by(recipe.phones))
    return Path(os.path.commonpath(folders))


def spoken_by(phones: PhoneConfig) -> list[Path]:
    """What says how words sound."""
    return [phones.lexicon] if phones.letters is None else [phones.lexicon, phones.letters]


def packed_name(place: Path, folder: Path) -> str:
    """A file's name in the luggage of a recipe in `folder`: `3/build/x` is `../../../build/x`.

    What the folders on the way up are called is each machine's own affair.
    """
    parts = Path(os.path.relpath(place, folder)).parts
    up = parts.count(os.pardir)
    return str(Path(str(up), *parts[up:]))


def unpacked_place(name: str, folder: Path) -> Path:
    """Where a file of that name belongs, for a recipe in `folder`."""
    up, *below = Path(name).parts
    return Path(os.path.normpath(folder.joinpath(*[os.pardir] * int(up), *below)))


def packing_list(recipe: Recipe, recipe_path: Path) -> dict[str, Path]:
    """The files that a recipe needs, by their packed names.

    Raises RecipeError for a recording outside of the common root, and as `recipe_files` does.
    """
    root, folder = common_root(recipe, recipe_path), recipe_path.resolve().parent
    places = [Path(os.path.normpath(path)) for path in recipe_files(recipe)]
    for place in places:
        if not place.is_relative_to(root):
            raise RecipeError(f"a manifest names a recording elsewhere: {place} is not in {root}")
    return {packed_name(place, folder): place for place in places}
