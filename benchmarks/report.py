"""Dated results in docs/benchmarks/, with the name of the machine they were measured on."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import torch

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared"
RESULTS = REPOSITORY / "docs" / "benchmarks"


def resident_bytes(name: str = "VmRSS") -> int:
    """Memory of this process that is in RAM now, or another line of its status."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


def resident_mb() -> float:
    """Memory of this process that is in RAM now."""
    return resident_bytes() / 1024**2


def processor_name() -> str:
    """The CPU's own name, and how many of its cores this machine has."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    return f"{models[0]}, {len(models)} cores"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def below_claim(document: str | None) -> str:
    """A script's docstring without its first line: how the claim is measured."""
    return (document or "").split("\n", 2)[2].strip()


def show_report(
    name: str, title: str, body: str, *, is_written: bool, script: str | None = None
) -> None:
    """Print a body, and write it if asked."""
    print(body)
    if is_written:
        print(write_report(name, title, body, script=script))


def write_report(name: str, title: str, body: str, *, script: str | None = None) -> Path:
    """Write ``docs/benchmarks/<name>.md``: what, when, where, results.

    `script`: the name of the one that measured, where that is not the page's.
    """
    today = datetime.now(UTC).date().isoformat()
    file = next((REPOSITORY / "benchmarks").rglob(f"{script or name}.py")).relative_to(REPOSITORY)
    head = (
        f"# {title}\n\n{today} · {processor_name()} · Python {platform.python_version()}, "
        f"torch {torch.__version__} · `{file}`\n\n"
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.md"
    path.write_text(head + body.rstrip() + "\n")
    return path
