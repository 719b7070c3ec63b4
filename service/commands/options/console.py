"""Output of commands: results to stdout, everything else to stderr."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class ReaderLeft(Exception):
    """Whoever read the results, `head` for instance, has had enough of them."""


def say(text: str, end: str = "\n") -> None:
    """Write a result. Raises ReaderLeft where nobody reads it."""
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except BrokenPipeError as error:
        # What is left in the buffer must go somewhere when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ReaderLeft from error


def tell(text: str) -> None:
    """Write a remark or a complaint."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def live_line() -> Live:
    """A line on stderr that changes and at last is gone; nothing where it is no terminal."""
    return Live(console=_terminal(), transient=True, redirect_stdout=sys.stdout.isatty())


def progress_bars(*columns: ProgressColumn) -> Progress:
    """Bars on stderr that are gone at last, ``columns`` behind; nothing where it is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        console=_terminal(),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )


@contextmanager
def progress_bar(text: str, total: float) -> Iterator[Callable[[float], None]]:
    """One bar under a line that stays; gives what moves it on."""
    tell(f"{text} ...")
    with progress_bars(done(), TimeRemainingColumn()) as bars:
        task = bars.add_task(text, total=total)
        yield lambda step: bars.advance(task, step)


class Stages:
    """A line with a bar for each thing that is done, one after the other."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._what: str | None = None
        self._task = TaskID(0)

    def __call__(self, what: str, done: float | None) -> None:
        """Show what is being done, and how much of it (0 to 1) is, where that is known."""
        if what != self._what:
            self.end()
            self._what = what
            self._task = self._progress.add_task(what, total=1.0 if done is not None else None)
        if done is not None:
            self._progress.update(self._task, completed=done)

    def end(self) -> None:
        """Report that the work is done."""
        if self._what is not None:
            self._progress.update(self._task, total=1.0, completed=1.0)


@contextmanager
def progress_stages() -> Iterator[Stages]:
    """Bars of stages, with the time that each took."""
    with progress_bars(TimeElapsedColumn()) as progress:
        stages = Stages(progress)
        yield stages
        stages.end()


def done(unit: str = "") -> TextColumn:
    """A column that says how much is done."""
    return TextColumn("{task.completed:.0f} " + unit)


def _terminal() -> Console:
    """Stderr; silent where it is no terminal."""
    console = Console(stderr=True)
    console.quiet = not console.is_terminal
    return console
