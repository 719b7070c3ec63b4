"""Which checks run where: without nvcc strangers are told what is left out, our own checks fail."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

TOOLS = ("bash", "dirname", "env", "mktemp", "nproc", "rm", "sleep")
CPU_CHECKS = [
    "setup",
    "layers",
    "style",
    "test",
    "types",
    "wheel",
]  # in whatever order, but the first
LEFT_OUT = "CUDA half: nvcc is not here"


@pytest.fixture
def checks(repository_dir: Path, tmp_path: Path):
    """Run a script of `.ci` among programs that note their arguments and succeed."""
    for tool in TOOLS:
        (tmp_path / tool).symlink_to(shutil.which(tool) or pytest.fail(f"{tool} is missing"))

    def run(
        script: str, *, nvcc: bool = False, fails: str = "", **variables: str
    ) -> tuple[int, str, list[str]]:
        noted = tmp_path / "noted"
        noted.write_text("")
        for name in ("make", "dpkg", "node", *(["nvcc"] if nvcc else [])):
            program = tmp_path / name
            program.write_text(
                f'#!/bin/sh\necho "{name} $*" >>{noted}\ntest "{name} $1" != "make {fails}"\n'
            )
            program.chmod(0o755)
        kept = {k: v for k, v in os.environ.items() if k not in ("EARSHOT_REQUIRE_CUDA", "PATH")}
        ended = subprocess.run(
            [str(repository_dir / ".ci" / script)], capture_output=True, text=True,
            env=kept | {"PATH": str(tmp_path)} | variables,
        )  # fmt: skip
        made = [line for line in noted.read_text().splitlines() if line.startswith("make ")]
        first, *others = (line.split()[1] for line in made)
        return ended.returncode, ended.stdout, [first, *sorted(others)]

    return run


def test_without_nvcc_strangers_are_told_what_is_left_out(checks) -> None:
    status, said, made = checks("checks")
    assert (status, made) == (0, CPU_CHECKS)
    assert f"left out: {LEFT_OUT}" in said


@pytest.mark.parametrize(
    ("script", "variables"), [("run", {}), ("checks", {"EARSHOT_REQUIRE_CUDA": "1"})]
)
def test_where_cuda_is_required_its_absence_is_a_failure(checks, script, variables) -> None:
    status, said, made = checks(script, **variables)
    assert (status, made) == (1, CPU_CHECKS)
    assert f"failed: {LEFT_OUT}" in said
    assert "left out" not in said


def test_with_nvcc_the_cuda_half_is_compiled_and_run(checks) -> None:
    status, said, made = checks("run", nvcc=True)
    assert status == 0
    assert made == ["setup", "cuda-test", "gpu", "layers", "style", "test", "types", "wheel"]
    assert "left out" not in said


@pytest.mark.parametrize("failing", ["style", "wheel", "test"])
def test_every_check_runs_though_one_beside_or_before_it_failed(checks, failing) -> None:
    status, said, made = checks("checks", fails=failing)
    assert (status, made) == (1, CPU_CHECKS)
    assert f"failed: {failing}\n" in said


def test_all_checks_are_told_with_their_time(checks) -> None:
    _, said, _ = checks("run", nvcc=True)
    told = re.findall(r"^== (.+): \d+ s", said, re.M)
    of_cuda = ["CUDA half", "CUDA half on an emulated device"]
    assert sorted(told) == [*of_cuda, *CPU_CHECKS[1:]]


def test_one_process_more_than_there_are_cores_runs_the_tests(checks, tmp_path: Path) -> None:
    checks("checks", OMP_NUM_THREADS="1")
    workers = len(os.sched_getaffinity(0)) + 1
    assert f"make test WORKERS={workers}\n" in (tmp_path / "noted").read_text()


def test_the_hosted_workflow_runs_the_checks_of_strangers(repository_dir: Path) -> None:
    text = (repository_dir / ".github" / "workflows" / "checks.yml").read_text()
    (job,) = yaml.safe_load(text)["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/checks"}
    assert "secrets" not in text


def test_what_a_wheel_is_tested_with_is_there(repository_dir: Path) -> None:
    project = tomllib.loads((repository_dir / "pyproject.toml").read_text())
    command = project["tool"]["cibuildwheel"]["test-command"].replace("{project}/", "")
    shell, *paths = command.split()
    assert shell == "bash"
    assert [path for path in paths if not (repository_dir / path).exists()] == []
