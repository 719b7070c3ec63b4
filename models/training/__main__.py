"""Trains, measures and exports models: ``python -m models.training train RECIPE --run DIR``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from models.checkpoint import load_model
from models.errors import ModelError
from models.training.config import Recipe, load_recipe
from models.training.errors import TrainingError
from models.training.evaluation import FULL_CONTEXT, transcribe
from models.training.export import export
from models.training.report import markdown_report, write_rates
from models.training.run import DEVICE_CHOICES, DeviceChoice, choose_device, open_run
from models.training.speech import load_dev_speech


def train(recipe: Recipe, run: Path, device: DeviceChoice) -> None:
    """Starts a run in the folder `run`, or goes on with the one that is there."""
    trainer = open_run(recipe, run, choose_device(device))
    if trainer.progress.step:
        print(f"going on at update {trainer.progress.step}")
    trainer.run()


def evaluate(
    recipe: Recipe, model_dir: Path, chunk_sizes: Sequence[int], rates: Path | None, limit: int
) -> None:
    """Prints word error rates on the development data; writes them by speaker to `rates`."""
    speech = load_dev_speech(recipe.data)
    speech = speech.subset(limit) if limit else speech
    transcripts = list(transcribe(load_model(model_dir), speech, chunk_sizes))
    if rates is not None:
        write_rates(rates, transcripts)
    print(markdown_report(transcripts), end="")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m models.training", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    training = actions.add_parser("train", help="start a run, or go on with it")
    exporting = actions.add_parser("export", help="average the best checkpoints into a model")
    evaluating = actions.add_parser("evaluate", help="word error rates on the development data")
    for action in (training, exporting, evaluating):
        action.add_argument("recipe", type=Path)
    for action in (training, exporting):
        action.add_argument("--run", type=Path, required=True, help="checkpoints and log")
    training.add_argument("--device", choices=DEVICE_CHOICES, default="auto")
    exporting.add_argument("--output", type=Path, required=True, help="model directory to write")
    evaluating.add_argument("--model", type=Path, required=True, help="model directory")
    evaluating.add_argument("--rates", type=Path, help="file for rates by corpus and speaker")
    evaluating.add_argument("--limit", type=int, default=0, help="utterances; 0 for all")
    evaluating.add_argument(
        "--chunks",
        type=int,
        nargs="+",
        default=[FULL_CONTEXT, 16, 8, 4],
        help="chunk sizes in encoder frames, -1 for full context",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one action; 1 and a message if the recipe, the data or the model is wrong."""
    options = parse(arguments)
    try:
        recipe = load_recipe(options.recipe)
        torch.set_num_threads(recipe.optimiser.threads)
        if options.action == "train":
            train(recipe, options.run, options.device)
        elif options.action == "export":
            export(recipe, options.run, options.output)
        else:
            evaluate(recipe, options.model, options.chunks, options.rates, options.limit)
    except (TrainingError, ModelError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
