"""The device that searches are fuzzed on: the CPU, or the emulated GPU where one was built.

There each episode has an order of threads and blocks of its own.
"""

from random import Random

import torch
from emulator import Settings, built

CPU_THREADS = (1,) * 60 + (2, 5)
EMULATED_THREADS = (1, 2, 5, 32, 64, 128, 256)


def device() -> torch.device:
    """That of ``$EARSHOT_EMULATOR``, or the CPU."""
    emulator = built()
    return emulator.device if emulator else torch.device("cpu")


def start_episode(seed: int, number: int) -> None:
    """Another order for the threads, if it is the emulated device; as new."""
    emulator = built()
    if emulator is None:
        return
    dice = Random(f"order {seed}/{number}")
    emulator.restart(
        Settings(
            seed=dice.randrange(1, 1 << 32),
            mean_slice=dice.choice((0, 7, 40, 300)),
            blocks_together=dice.choice((1, 2, 4)),
            delays_stores=dice.random() < 0.5,
        )
    )


def block_threads(dice: Random) -> int:
    """Of a search."""
    return dice.choice(CPU_THREADS if built() is None else EMULATED_THREADS)
