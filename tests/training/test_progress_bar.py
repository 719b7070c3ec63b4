"""Bars are for eyes."""

import io
import sys

import pytest

from earshot.training.progress_bar import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_a_bar_is_shown_on_a_terminal_alone(
    stream: io.StringIO, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress_bar("abc", desc="reading", unit="letter")) == ["a", "b", "c"]
    assert ("reading" in stream.getvalue()) is shown
    assert shown or not stream.getvalue()
