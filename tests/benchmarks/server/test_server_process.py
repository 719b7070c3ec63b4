import sys
from pathlib import Path

import pytest

from benchmarks.server.server_process import cpu_s, family_of, free_port, server_process

LISTENS = """
import socket, subprocess, sys
reads = [sys.executable, "-c", "import sys; sys.stdin.read()"]
child = subprocess.Popen(reads, stdin=subprocess.PIPE)
print(child.pid, flush=True)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    listener.accept()[0].close()
"""


def test_a_server_counts_with_its_children_and_ends_with_the_block(tmp_path: Path) -> None:
    port = free_port()
    with server_process([sys.executable, "-c", LISTENS, str(port)], port, tmp_path) as pid:
        child = int((tmp_path / "server.log").read_text())
        assert family_of(pid).keys() == {pid, child}
        assert cpu_s(pid) >= 0
    assert not family_of(pid)


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    fails = [sys.executable, "-c", "raise SystemExit('no such model')"]
    with (
        pytest.raises(RuntimeError, match="no such model"),
        server_process(fails, free_port(), tmp_path),
    ):
        pass
