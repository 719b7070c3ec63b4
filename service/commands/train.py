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
    parser.add_argument(
        "config",
        type=Path,
        metavar="CONFIG",
        help="a recipe, or a list of stages, in TOML",
    )
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
        from earshot.training.recipe.data_root import data_root
        from earshot.training.run.run import choose_device
        from earshot.training.run.time_limit import TimeLimit
        from earshot.training.stages.stage_file import load_stages
        from earshot.training.stages.stage_runs import run_stages

    try:
        finished = run_stages(
            load_stages(arguments.config, data_root(arguments.data)),
            choose_device(arguments.device),
            TimeLimit(60 * arguments.minutes, 60 * arguments.cool_minutes),
            tell,
            run=arguments.run,
            output=arguments.export,
        )
    except (TrainingError, ModelError) as error:
        raise StartupError(str(error)) from error
    return 0 if finished else MORE_TO_DO
