"""A forked process holds none of its parent's sockets open, and does not outlive it."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import threading
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass

_STANDARD = range(3)
"""stdin, stdout, stderr: a supervisor may have made them sockets."""

_PR_SET_PDEATHSIG = 1  # prctl(2)


def leave_sockets(kept: Container[int]) -> None:
    """Let go of every inherited socket but the standard ones and those with the numbers kept.

    A listening one would stay taken after the parent's death, and whoever is connected would wait
    for an end. Their numbers stay taken, by /dev/null: an object of the parent's that knows one may
    close it, and then closes no file of this process.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - the listing's own number is in it
        number = int(name)
        if number not in _STANDARD and number not in kept and _is_socket(number):
            os.dup2(nothing, number, inheritable=False)
    os.close(nothing)


@dataclass(frozen=True)
class Parent:
    """The process that forks, as the forked one knows it.

    lasting: whether the thread that forks lasts as long as its process does.
    """

    pid: int
    lasting: bool

    @classmethod
    def here(cls) -> Parent:
        """This process, where this thread forks."""
        return cls(os.getpid(), threading.current_thread() is threading.main_thread())

    @property
    def gone(self) -> bool:
        """Whether it has ended."""
        return os.getppid() != self.pid

    def take_along(self) -> None:
        """Have the kernel kill this process when its parent ends, even where it is stopped.

        The kernel goes by the thread that forked: nothing is asked of it where that one may end
        before. Nor does it tell of an end that was before this call: see `gone`. Raises OSError.
        """
        if not self.lasting:
            return
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def _is_socket(number: int) -> bool:
    with suppress(OSError):  # closed meanwhile
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    return False
