"""`earshot`: finds the command, loads it alone, and turns errors into one line and an exit code."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from earshot.service.commands.options.console import ReaderLeft, say, tell
from earshot.service.commands.options.once import OnceParser
from earshot.service.errors import ServiceError

USAGE_ERROR = 2
INTERRUPTED = 130
READER_LEFT = 141  # as a shell says of a program that ended at a closed pipe


class CommandModule(Protocol):
    """What a module in `service/commands` provides."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it and return the exit code."""


COMMANDS = {
    "serve": "serve the page and /v1/listen",
    "transcribe": "write the text of audio files",
    "listen": "write what the microphone hears",
    "models": "describe the bundled model, or others",
    "lm": "make n-gram language models of text",
    "graph": "build and inspect decoding graphs",
    "synthesize": "make synthetic speech to train with",
    "train": "train a model by a recipe, or go on with it",
    "bench": "measure how many live streams a server carries",
}
"""What the overview says of each module of `service/commands` that is a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (2: it could not start, with one line saying why)."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _main(words)
    except ReaderLeft:
        return READER_LEFT
    except KeyboardInterrupt:
        return INTERRUPTED


def _main(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        say(_overview())
        return 0 if words else USAGE_ERROR
    if words[0] == "--version":
        from importlib.metadata import version  # a third of what help takes

        say(f"earshot {version('earshot-asr')}")
        return 0
    if words[0] not in COMMANDS:
        tell(f"earshot: there is no command {words[0]!r}; `earshot --help` lists them")
        return USAGE_ERROR
    return _run(words[0], words[1:])


def _run(name: str, words: list[str]) -> int:
    try:
        # Only this command's module is imported: help must not wait for the model's libraries.
        module = cast(CommandModule, importlib.import_module(f"earshot.service.commands.{name}"))
        parser = OnceParser(prog=f"earshot {name}", description=COMMANDS[name], allow_abbrev=False)
        module.add_arguments(parser)
        return module.run(parser.parse_args(words))
    except ServiceError as error:
        tell(f"earshot {name}: {error}")
        return USAGE_ERROR


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "usage: earshot COMMAND ...",
            "       earshot --version",
            "",
            *lines,
            "",
            "`earshot COMMAND --help` says more.",
        ]
    )
