"""One call on a host that is borrowed by the minute, has no network and forgets everything.

The checkout is there, and pieces of what the recipe needs as far as they have come. A call that
has them all trains, and leaves a model to take home, in pieces again.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from earshot.training.deadline import Deadline
from earshot.training.inventory import common_root, packing_list, unpacked_place
from earshot.training.pieces import TABLE_FILE, Piece, cut, folder_files, join, missing
from earshot.training.recipe.config import load_recipe
from earshot.training.run.export import export
from earshot.training.run.run import DeviceChoice, choose_device, default_folder, open_run

JOINED_FILE = "joined.json"  # the table of the pieces that were unpacked
RESERVE_S = 20.0  # for the last checkpoint, the average and the pieces


@dataclass(frozen=True)
class Call:
    """Where the pieces are, where results go, how long it may take, and how it ends."""

    pieces: Path
    output: Path
    seconds: float
    cooling_s: float
    piece_bytes: int
    device: DeviceChoice = "auto"


def pack(recipe_path: Path, output: Path, piece_bytes: int) -> list[Piece]:
    """Writes what a recipe needs, besides the checkout, in pieces to `output`.

    Raises RecipeError and CorpusError like `packing_list`.
    """
    return cut(packing_list(load_recipe(recipe_path), recipe_path), output, piece_bytes)


def unpack(recipe_path: Path, pieces: Path) -> None:
    """Puts the files where the recipe looks for them, once.

    Raises BrokenPieces if some are absent or damaged.
    """
    table = (pieces / TABLE_FILE).read_bytes()
    done = pieces / JOINED_FILE
    if done.is_file() and done.read_bytes() == table:
        return
    root, folder = common_root(load_recipe(recipe_path), recipe_path), recipe_path.resolve().parent
    join(pieces, root, lambda name: str(unpacked_place(name, folder).relative_to(root)))
    done.write_bytes(table)


def work(recipe_path: Path, call: Call) -> list[str]:
    """Trains, and writes the model and the log to `output`; gives the pieces still to come.

    Nothing is trained while there are such.
    """
    began = time.monotonic()
    absent = missing(call.pieces)
    if absent:
        return absent
    unpack(recipe_path, call.pieces)
    recipe = load_recipe(recipe_path)
    run = default_folder(recipe)
    trainer = open_run(recipe, run, choose_device(call.device))
    left_s = call.seconds - RESERVE_S - (time.monotonic() - began)
    trainer.run(deadline=Deadline(max(0.0, left_s), call.cooling_s))
    call.output.mkdir(parents=True, exist_ok=True)
    if trainer.log_file.is_file():
        shutil.copy(trainer.log_file, call.output)
    if trainer.progress.kept:
        export(recipe, run, run / "model")
        cut(folder_files(run / "model"), call.output, call.piece_bytes)
    return []
