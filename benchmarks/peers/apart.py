"""Work in a process of its own: a peer that crashes, or spoils the device, harms no other."""

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

from benchmarks.wfst.streams import NotRun

Result = TypeVar("Result")


def apart(jobs: Sequence[Callable[[], Result]], limit_s: float) -> list[Result | NotRun]:
    """What each job gives, or why it gave nothing; one child runs them all, in their order.

    The child shares all that is loaded here, but not what this process began on a GPU: call it
    before that. A job that fails is passed over; after a crash, or after ``limit_s`` without a
    result, none that is left is run.
    """
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_report, args=(jobs, there))
    child.start()
    there.close()
    found: list[Result | NotRun] = []
    try:
        while len(found) < len(jobs):
            if not here.poll(limit_s):
                break
            found.append(here.recv())
        ended = NotRun(f"no result within {limit_s:g} s")
    except EOFError:
        child.join()
        ended = NotRun(f"it ended its process with status {child.exitcode}")
    finally:
        child.kill()
        child.join()
        here.close()
    return found + [ended] * (len(jobs) - len(found))


def _report(jobs: Sequence[Callable[[], Result]], to: Connection) -> None:
    for job in jobs:
        try:
            to.send(job())
        except NotRun as error:
            to.send(error)
        except Exception as error:  # noqa: BLE001 - a peer may fail in any way; the table says how
            to.send(NotRun(f"{type(error).__name__}: {error}"))
