"""What commands say: results to stdout, everything else to stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


def say(text: str, end: str = "\n") -> None:
    """Write a result."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def tell(text: str) -> None:
    """Write a remark or a complaint."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def progress_bars(unit: str = "s") -> Progress:
    """Bars on stderr that are gone when their work is done; nothing where it is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} " + unit),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


@contextmanager
def progress_bar(text: str, total: float) -> Iterator[Callable[[float], None]]:
    """One bar under a line that stays; gives what moves it on."""
    tell(f"{text} ...")
    with progress_bars("") as bars:
        task = bars.add_task(text, total=total)
        yield lambda step: bars.advance(task, step)
