"""Flags that take one value are given once: argparse would let the last one win in silence."""

import argparse
from collections.abc import Sequence
from typing import Any


class OnceParser(argparse.ArgumentParser):
    """A parser that refuses a flag given twice, unless its action gathers values."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in (None, "store"):
            self.register("action", action, StoreOnce)


class StoreOnce(argparse.Action):
    """Stores a flag's value, the only one in a command line."""

    _given: argparse.Namespace | None = None

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Raises ArgumentError for a second one."""
        if option_string is not None and self._given is namespace:
            raise argparse.ArgumentError(self, "given twice, where it takes one value")
        self._given = namespace
        setattr(namespace, self.dest, values)
