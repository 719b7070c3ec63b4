"""`earshot models`: what a model directory holds."""

import argparse
import json
from pathlib import Path

from earshot.service.commands.options.console import say, tell
from earshot.service.errors import ServiceError
from earshot.service.settings import Settings

SOME_FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare directories and the form of the answer."""
    parser.add_argument(
        "directories",
        nargs="*",
        type=Path,
        metavar="DIR",
        help="the bundled model if none is given",
    )
    parser.add_argument(
        "--graph", metavar="GRAPH", help="a decoding graph to check against each, or none"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Describe each directory; returns 1 if one of them is no model."""
    from earshot.service.core.engine_setup import load_engine, served_model
    from earshot.service.deepgram.response.model_list import listing

    failed = False
    for directory in arguments.directories or [None]:
        try:
            settings = Settings.load(
                model=directory, graph=arguments.graph, device="cpu", max_streams=1
            )
            description = listing(served_model(load_engine(settings), settings), ())
        except ServiceError as error:
            tell(f"earshot models: {error}")
            failed = True
            continue
        say(json.dumps(description, indent=2) if arguments.json else _table(description))
    return SOME_FAILED if failed else 0


def _table(description: dict[str, object]) -> str:
    width = max(map(len, description))
    return "\n".join(f"{name:<{width}}  {_shown(value)}" for name, value in description.items())


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
