"""Arms that take turns, each in a process that stays: a line asks for a turn, a line answers.

The child may be any Python that has numpy: what it imports of ours is this module alone.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
Decode = Callable[[Sequence[Samples]], list[str]]

REPOSITORY = Path(__file__).resolve().parents[2]
LAST_S = 10.0


@dataclass(frozen=True)
class Turn:
    """What one turn took, all threads of the process together, and the text of each clip."""

    cpu_s: float
    texts: list[str]


class TurnTaker(AbstractContextManager["TurnTaker"]):
    """One arm's process, as the script that asks for its turns sees it.

    Raises RuntimeError, with the end of what it wrote, for a child that ended.
    """

    def __init__(self, name: str, command: Sequence[str | Path], log: Path) -> None:
        self.name, self._log = name, log
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                list(map(str, command)), cwd=REPOSITORY, text=True, stderr=errors,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | ONE_THREAD,
            )  # fmt: skip
        self._line()  # it has loaded its model and decoded once

    def turn(self) -> Turn:
        """Let it decode all clips."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return Turn(**json.loads(self._line()))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(LAST_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended:\n{self._log.read_text()[-2000:]}")
        return line


ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def answer_turns(decode: Decode, clips: Path, together: int) -> None:
    """The child: decode the clips, so many at once, whenever a line asks for it.

    clips: a file of (N, T) samples in [-1, 1].
    """
    audio = list(np.load(clips))
    groups = [audio[at : at + together] for at in range(0, len(audio), together)]
    decode(groups[0])  # the first one pays for warming up
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.process_time()
        texts = [text for group in groups for text in decode(group)]
        print(json.dumps(asdict(Turn(time.process_time() - began, texts))), flush=True)
