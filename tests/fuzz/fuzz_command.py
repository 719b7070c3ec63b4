"""What fuzzers share: episode after episode, and a command line that repeats one."""

import argparse
import sys
import time
from collections.abc import Callable

from fuzz_tally import Tally, growth, resident_mb


def run_episodes(
    seed: int, run: Callable[[int, Tally], None], goes_on: Callable[[Tally], bool]
) -> Tally:
    """Episodes by their numbers for as long as there is more to do.

    Raises AssertionError if memory grows.
    """
    tally, memory_mb = Tally(), list[float]()
    while goes_on(tally):
        number = len(memory_mb)
        print(f"\rseed {seed}, episode {number} ", end="", file=sys.stderr, flush=True)
        run(number, tally)
        memory_mb.append(resident_mb())
    print(f"\n{growth(memory_mb)}", file=sys.stderr)
    return tally


def main_of(
    document: str | None,
    counted: str,
    usual: int,
    fuzz: Callable[[int, int], Tally],
    repeat: Callable[[int, int, Tally], None],
) -> None:
    """The command line of a fuzzer that does so much of what is counted, `usual` if nobody says.

    fuzz: of a seed and how many. repeat: one episode, by seed and number.
    """
    parser = argparse.ArgumentParser(description=document)
    parser.add_argument(f"--{counted}", type=int, default=usual, dest="count")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat this episode")
    arguments = parser.parse_args()
    begun = time.monotonic()
    if arguments.only is None:
        tally = fuzz(arguments.seed, arguments.count)
    else:
        tally = Tally()
        repeat(arguments.seed, arguments.only, tally)
    print(tally.table())
    print(f"{tally.done.total():,} {counted}, {time.monotonic() - begun:.0f} s")
