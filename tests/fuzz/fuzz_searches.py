"""Random and hostile operations on the readers of graphs, on both searches and on label looping.

``python tests/fuzz/fuzz_searches.py --operations 1000000 --seed 1``; ``make fuzz`` runs it with
AddressSanitizer and UBSan. An episode is a handful of bad files, one search with a few slots, and
one label loop; it follows from the seed and its number alone, so that ``--only NUMBER`` repeats one
that failed.
"""

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import fuzz_device
import hostile_inputs
from fuzz_command import main_of, run_episodes
from fuzz_tally import FAST_DISK, Tally
from hostile_files import HostileFiles
from label_trial import LabelTrial
from oracle_trial import OracleTrial
from prefix_trial import PrefixTrial
from search_trial import Outcome, SearchTrial
from wfst_trial import WfstTrial

from earshot.decoder_kernels.errors import DeviceError, GraphError, KernelError
from earshot.decoder_kernels.graph.graph import Graph

FILES, STEPS, COMPARISONS, LABEL_STEPS = 60, 200, 10, 50
KINDS_OF_FILES = {"compiled graph": 20, "foreign graph": 10, "language model": 1}


class Episode:
    """Some bad files, a search, then comparisons with oracles.

    Raises what no client should be able to cause.
    """

    def __init__(self, seed: int, number: int, tally: Tally) -> None:
        self._seed, self._number = seed, number
        self._dice = Random(f"{seed}/{number}")
        self._tally = tally

    def run(self) -> None:
        """All of it."""
        fuzz_device.start_episode(self._seed, self._number)
        with tempfile.TemporaryDirectory(dir=FAST_DISK) as directory:
            graphs = self._read_files(HostileFiles(self._dice, Path(directory)))
        trial = self._trial(graphs)
        for _ in range(STEPS if trial else 0):
            self._tally.add(trial.step(), type(trial.search).__name__)
        for _ in range(COMPARISONS):
            self._tally.add(self._compare())
        labels = LabelTrial(self._dice)
        for _ in range(LABEL_STEPS):
            self._tally.add(labels.step(), "LabelLoop")

    def _compare(self) -> Outcome:
        try:
            OracleTrial(self._dice).run()
        except DeviceError:
            raise  # no client's doing, whatever it asked for
        except (GraphError, KernelError) as error:
            return Outcome("comparison", 1, 1, type(error).__name__)
        return Outcome("comparison")

    def _read_files(self, files: HostileFiles) -> list[Graph]:
        graphs = []
        kinds = self._dice.choices(list(KINDS_OF_FILES), list(KINDS_OF_FILES.values()), k=FILES)
        for kind in kinds:
            try:
                graphs.append(files.read(kind))
            except GraphError as error:
                self._tally.add(Outcome(kind, 1, 1, type(error).__name__))
            else:
                self._tally.add(Outcome(kind))
        return graphs

    def _trial(self, graphs: list[Graph]) -> SearchTrial[Any] | None:
        """A search, of one of the graphs or of one that is made up."""
        if self._dice.random() < 0.25:
            return PrefixTrial(self._dice)
        try:
            if not graphs or self._dice.random() < 0.5:
                graphs = [hostile_inputs.graph(self._dice)]
            trial = WfstTrial(self._dice, self._dice.choice(graphs))
        except GraphError as error:
            self._tally.add(Outcome("search", 1, 1, type(error).__name__))
            return None
        self._tally.add(Outcome("search"))
        return trial


def fuzz(seed: int, operations: int) -> Tally:
    """Run episodes until so many operations are done. Raises AssertionError if memory grows."""
    return run_episodes(
        seed,
        lambda number, tally: run_episode(seed, number, tally),
        lambda tally: tally.done.total() < operations,
    )


def run_episode(seed: int, number: int, tally: Tally) -> None:
    """One alone."""
    Episode(seed, number, tally).run()


if __name__ == "__main__":
    main_of(__doc__, "operations", 1_000_000, fuzz, run_episode)
