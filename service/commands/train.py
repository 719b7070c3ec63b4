"""`earshot train`: train a model by a recipe, on a CPU or a GPU, and go on where a run stopped."""

import argparse
from pathlib import Path

from earshot.service.commands.options.console import tell
from earshot.service.commands.options.training_package import training_package
from earshot.service.errors import StartupError

DEVICES = ("auto", "cpu", "cuda")
MORE_TO_DO = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the recipe, where the run goes, and how far it goes now."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="the recipe, a TOML file")
    parser.add_argument(
        "--run", type=Path, metavar="DIR", help="checkpoints and log; work_dir/runs/NAME if absent"
    )
    add_run_flags(parser)
    parser.add_argument(
        "--export",
        type=Path,
        metavar="DIR",
        help="write the model, an average of the best checkpoints",
    )


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Declare where a run finds its data and happens, and how far it goes now."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="what the recipe learns from; EARSHOT_DATA, or the recipe's folder, if absent",
    )
    parser.add_argument(
        "--device", choices=DEVICES, default="auto", help="auto (the default) takes a GPU if any"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        default=float("inf"),
        help="stop after so many, to be gone on with by the same command",
    )
    parser.add_argument(
        "--cool-minutes",
        type=float,
        default=0.0,
        metavar="M",
        help="let the learning rate fall to nothing in the last of those minutes",
    )


def run(arguments: argparse.Namespace) -> int:
    """Train; 0 at the end of the schedule, 3 where the same command would go on."""
    with training_package():
        from earshot.models.errors import ModelError
        from earshot.training.errors import TrainingError
        from earshot.training.files.output_folder import make_folder
        from earshot.training.recipe.config import load_recipe
        from earshot.training.recipe.data_root import data_root
        from earshot.training.run.export import export
        from earshot.training.run.run import choose_device, default_folder, open_run
        from earshot.training.run.time_limit import TimeLimit

    try:
        recipe = load_recipe(arguments.config, data_root(arguments.data))
        folder: Path = arguments.run or default_folder(recipe)
        trainer = open_run(recipe, folder, choose_device(arguments.device))
        tell(f"{recipe.name}: from update {trainer.progress.step} on {trainer.device}, in {folder}")
        if arguments.export is not None:
            make_folder(arguments.export)  # known before the work, not after it
        trainer.run(limit=TimeLimit(60 * arguments.minutes, 60 * arguments.cool_minutes))
        tell(f"stands at update {trainer.progress.step}; log: {trainer.log_file}")
        if arguments.export is not None:
            export(recipe, folder, arguments.export)
    except (TrainingError, ModelError) as error:
        raise StartupError(str(error)) from error
    return 0 if trainer.finished else MORE_TO_DO
