"""The end of a process that must not wait for its threads for ever."""

import os
import threading


def end_within(seconds: float, status: int) -> None:
    """End the process with ``status`` when the time is over, if it is still there."""
    timer = threading.Timer(seconds, os._exit, [status])
    timer.daemon = True
    timer.start()
