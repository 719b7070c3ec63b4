"""Results go to stdout alone, whatever is shown on stderr beside them."""

import io
import subprocess
import sys

import pytest
from rich.progress import TimeElapsedColumn

from earshot.service.commands.options.console import live_line, progress_bars, say

SHOWN = {"bars": lambda: progress_bars(TimeElapsedColumn()), "line": live_line}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", SHOWN)
def test_results_reach_a_file_while_a_terminal_shows_progress(capsys, monkeypatch, kind):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with SHOWN[kind]():
        say("a result")
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in terminal.getvalue()
    assert terminal.getvalue() != ""


@pytest.mark.parametrize("kind", SHOWN)
def test_nothing_is_shown_where_stderr_is_no_terminal(capsys, kind):
    with SHOWN[kind]() as shown:
        shown.refresh()
        say("a result")
    assert capsys.readouterr() == ("a result\n", "")


def test_a_command_whose_reader_has_left_ends_quietly():
    left = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    left.wait()
    command = [sys.executable, "-m", "earshot.service", "--help"]
    done = subprocess.run(command, stdout=left.stdin, stderr=subprocess.PIPE, check=False)
    left.stdin.close()
    assert (done.returncode, done.stderr) == (141, b"")
