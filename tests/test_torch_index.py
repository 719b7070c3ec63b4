"""Where `make setup` takes torch from: the index of its CPU builds, unless there is a GPU."""

import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


class CpuIndex(BaseHTTPRequestHandler):
    """Knows torch, and nothing else."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/torch/" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def cpu_index() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), CpuIndex) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def chosen(repository_dir: Path, tmp_path: Path):
    """The index for a machine with or without a GPU, and the line that says why."""

    def choose(*variables: str, gpu: bool) -> tuple[str, str]:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\nexit {0 if gpu else 9}\n")
        program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if name != "TORCH_INDEX"}
        ended = subprocess.run(
            ["make", "-s", "--no-print-directory", "torch-index", *variables],
            cwd=repository_dir, check=True, capture_output=True, text=True,
            env=kept | {"PATH": f"{tmp_path}:{kept['PATH']}", "NO_PROXY": "*", "MAKEFLAGS": ""},
        )  # fmt: skip
        (why,) = ended.stderr.splitlines()
        return ended.stdout.strip(), why

    return choose


def test_without_a_gpu_it_is_that_of_the_cpu_builds(chosen, cpu_index: str) -> None:
    index, why = chosen(f"CPU_TORCH={cpu_index}", gpu=False)
    assert index == cpu_index
    assert f"{cpu_index}: there is no GPU" in why


def test_where_that_does_not_answer_it_is_pips_own(chosen, cpu_index: str) -> None:
    index, why = chosen(f"CPU_TORCH={cpu_index}/elsewhere", gpu=False)
    assert index == ""
    assert f"the index that pip knows: there is no GPU, but {cpu_index}/elsewhere does not" in why


def test_with_a_gpu_it_is_pips_own(chosen, cpu_index: str) -> None:
    index, why = chosen(f"CPU_TORCH={cpu_index}", gpu=True)
    assert index == ""
    assert "the index that pip knows: there is a GPU" in why


@pytest.mark.parametrize("asked", ["", "https://example.org/torch"])
@pytest.mark.parametrize("gpu", [False, True])
def test_what_is_asked_for_is_taken(chosen, cpu_index: str, asked: str, gpu: bool) -> None:
    index, why = chosen(f"CPU_TORCH={cpu_index}", f"TORCH_INDEX={asked}", gpu=gpu)
    assert index == asked
    assert why.endswith("as asked")
