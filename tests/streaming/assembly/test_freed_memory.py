"""Memory goes back to the system where the C library can give it back."""

import ctypes
import sys
from types import SimpleNamespace

import pytest

from earshot.streaming.assembly import freed_memory
from earshot.streaming.assembly.freed_memory import return_freed_memory


@pytest.mark.skipif(sys.platform != "linux", reason="there is no malloc_trim")
@pytest.mark.parametrize("has_it", [True, False])
def test_what_was_freed_is_given_back_where_that_is_possible(monkeypatch, has_it) -> None:
    asked: list[int] = []
    library = SimpleNamespace(malloc_trim=asked.append) if has_it else SimpleNamespace()
    monkeypatch.setattr(freed_memory, "ctypes", SimpleNamespace(CDLL=lambda _: library))
    return_freed_memory()
    assert asked == [0] * has_it


def test_other_systems_are_not_asked(monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", None)
    return_freed_memory()
