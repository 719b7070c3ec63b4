"""`earshot lm train`: a neural language model of text, for the second pass."""

import argparse
from pathlib import Path

from earshot.service.commands.options.build_files import require_place
from earshot.service.commands.options.console import tell
from earshot.service.commands.options.training_package import training_package
from earshot.service.commands.train import MORE_TO_DO, add_run_flags
from earshot.service.errors import StartupError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the recipe, the file to write, and how far the run goes now."""
    parser.add_argument("config", type=Path, metavar="CONFIG", help="the recipe, a TOML file")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="model to write")
    add_run_flags(parser)
    parser.set_defaults(do=_train)


def _train(arguments: argparse.Namespace) -> int:
    """Train; 0 at the end of the schedule, 3 where the same command would go on."""
    with training_package():
        from earshot.training.errors import TrainingError
        from earshot.training.neural_lm.recipe import load_lm_recipe
        from earshot.training.neural_lm.trainer import LmTrainer
        from earshot.training.recipe.data_root import data_root
        from earshot.training.run.run import choose_device
        from earshot.training.run.time_limit import TimeLimit

    require_place(arguments.out, [arguments.config])
    try:
        recipe = load_lm_recipe(arguments.config, data_root(arguments.data))
        trainer = LmTrainer(recipe, choose_device(arguments.device))
        tell(f"{recipe.name}: from update {trainer.step} on {trainer.device}, in {trainer.folder}")
        trainer.run(TimeLimit(60 * arguments.minutes, 60 * arguments.cool_minutes))
        trainer.export(arguments.out)
    except TrainingError as error:
        raise StartupError(str(error)) from error
    for name, value in trainer.perplexities.items():
        tell(f"{name}: perplexity {value:.1f}")
    tell(f"stands at update {trainer.step}; log: {trainer.log_file}")
    return 0 if trainer.finished else MORE_TO_DO
