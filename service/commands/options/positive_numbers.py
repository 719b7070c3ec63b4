"""Numbers above zero, as flags take them; argparse says what is wrong with others."""

import argparse
import math


def positive_count(text: str) -> int:
    """Read a whole number of 1 or more."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return number


def positive_seconds(text: str) -> float:
    """Read a time that is neither zero nor endless."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return number
