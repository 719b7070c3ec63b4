"""Hostile ARPA files and images of language models, packed, opened and asked.

``python tests/fuzz/sanitized_run.py --lms --files 100000 --seed 1``: so many of each kind with
AddressSanitizer and UBSan, as ``make fuzz`` does. An episode follows from the seed and its number
alone, so that ``--only NUMBER`` repeats one that failed.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzz_command import main_of, run_episodes
from fuzz_tally import FAST_DISK, Tally
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

    def run(number: int, tally: Tally) -> None:
        left = files - tally.done["image"]
        run_episode(seed, number, min(FILES_OF_AN_EPISODE, left), tally)

    return run_episodes(seed, run, lambda tally: tally.done["image"] < files)


def repeat(seed: int, number: int, tally: Tally) -> None:
    """One whole episode."""
    run_episode(seed, number, FILES_OF_AN_EPISODE, tally)


if __name__ == "__main__":
    main_of(__doc__, "files", 100_000, fuzz, repeat)
