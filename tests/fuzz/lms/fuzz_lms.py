"""Hostile ARPA files and images of language models, packed, opened and asked.

``python tests/fuzz/sanitized_run.py --lms --files 100000 --seed 1``: so many of each kind with
AddressSanitizer and UBSan, as ``make fuzz`` does. An episode follows from the seed and its number
alone, so that ``--only NUMBER`` repeats one that failed.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzz_tally import FAST_DISK, Tally, growth, resident_mb
from hostile_arpas import HostileArpas
from hostile_images import HostileImages
from search_trial import Outcome

from earshot.decoder_kernels.errors import KernelError

FILES_OF_AN_EPISODE = 100


def run_episode(seed: int, number: int, files: int, tally: Tally) -> None:
    """So many files of each kind. Raises what no file should be able to cause."""
    dice = Random(f"lms/{seed}/{number}")
    with tempfile.TemporaryDirectory(dir=FAST_DISK) as directory:
        arpas = HostileArpas(dice, Path(directory))
        images = HostileImages(dice, Path(directory))
        for _ in range(files):
            tally.add(_outcome("ARPA file", arpas.read))
            tally.add(_outcome("image", images.use))


def _outcome(what: str, do: Callable[[], object]) -> Outcome:
    try:
        do()
    except KernelError as error:
        said = str(error)
        assert len(said) < 1000
        assert "\n" not in said
        said.encode()
        return Outcome(what, 1, 1, type(error).__name__)
    return Outcome(what)


def fuzz(seed: int, files: int) -> Tally:
    """So many files of each kind. Raises AssertionError if memory grows."""
    tally, memory_mb = Tally(), list[float]()
    for begin in range(0, files, FILES_OF_AN_EPISODE):
        number = begin // FILES_OF_AN_EPISODE
        print(f"\rseed {seed}, episode {number} ", end="", file=sys.stderr, flush=True)
        run_episode(seed, number, min(FILES_OF_AN_EPISODE, files - begin), tally)
        memory_mb.append(resident_mb())
    print(f"\n{growth(memory_mb)}", file=sys.stderr)
    return tally


def main() -> None:
    """Fuzz as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat this episode")
    arguments = parser.parse_args()
    begun = time.monotonic()
    if arguments.only is None:
        tally = fuzz(arguments.seed, arguments.files)
    else:
        tally = Tally()
        run_episode(arguments.seed, arguments.only, FILES_OF_AN_EPISODE, tally)
    print(tally.table())
    print(f"{tally.done.total():,} files, {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
