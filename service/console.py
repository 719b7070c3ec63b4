"""What commands say: results to stdout, everything else to stderr."""

import sys


def say(text: str, end: str = "\n") -> None:
    """Write a result."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def tell(text: str) -> None:
    """Write a remark or a complaint."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
