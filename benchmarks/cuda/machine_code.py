"""What ptxas makes of our kernels: registers, stack, spills and bytes of code."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CSRC = Path(__file__).resolve().parents[2] / "decoder_kernels" / "csrc"
ARCHITECTURES = (80, 90, 100)
COLUMNS = ("registers", "stack, bytes", "spilled, bytes", "code, bytes")
FLAGS = ("-std=c++20", "-O3", "-DNDEBUG", "--fmad=false", "--expt-relaxed-constexpr")
KERNELS = {
    "WfstLane": "graph advance",
    "WfstForgetBoosts": "graph forget boosts",
    "WfstBest": "graph best",
    "WfstReset": "graph reset",
    "WfstCount": "graph count",
    "WfstWords": "graph words",
    "WfstGather": "graph gather",
    "LaneSearch": "prefix advance",
    "ReadResults": "prefix results",
    "ForgetBoosts": "prefix forget boosts",
    "Summarize": "prefix summary",
    "Reset": "prefix reset",
    "run_loopINS0_8ByLabels": "label loop, labels",
    "run_loopINS0_8ByFrames": "label loop, frames",
    "run_loopINS0_4Free": "label loop, free",
    "BeginStepINS0_8ByLabels": "loop begin, labels",
    "BeginStepINS0_8ByFrames": "loop begin, frames",
    "BeginStepINS0_4Free": "loop begin, free",
    "ChooseStepINS0_8ByLabels": "loop choice, labels",
    "ChooseStepINS0_8ByFrames": "loop choice, frames",
    "ChooseStepINS0_4Free": "loop choice, free",
    "FramesStep": "loop frames",
    "AnswerStep": "loop answers",
    "HearStep": "loop LSTM layer",
    "SayStep": "loop projection",
    "ConditionStep": "loop conditions",
}
"""Part of the mangled name, the longer before what it contains."""

ENTRY = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers",
    re.DOTALL,
)
RELEASE = re.compile(r"release (\d+\.\d+)")
SECTION = re.compile(r" \.text\.(?P<name>\w+)\s+PROGBITS\s+\w+ \w+ (?P<size>\w+)")


@dataclass(frozen=True)
class MachineCode:
    """Of one kernel."""

    kernel: str
    registers: int
    stack_bytes: int
    spilled_bytes: int
    code_bytes: int

    def cells(self) -> list[str]:
        """As a table has them, in the order of `COLUMNS`."""
        numbers = (self.registers, self.stack_bytes, self.spilled_bytes, self.code_bytes)
        return [f"{number:,}" for number in numbers]


def nvcc_release() -> str | None:
    """Of the CUDA toolkit on the path, as ``13.0``, or None without one."""
    if shutil.which("nvcc") is None:
        return None
    said = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True).stdout
    found = RELEASE.search(said)
    return found[1] if found else None


def compiled(architecture: int) -> Iterator[MachineCode]:
    """Of all kernels, in files by their names. Raises CalledProcessError where nvcc fails."""
    for source in sorted(CSRC.glob("*/*.cu")):
        with tempfile.TemporaryDirectory() as directory:
            cubin = Path(directory) / "kernel.cubin"
            yield from _read(*_compile(source, architecture, cubin))


def _compile(source: Path, architecture: int, cubin: Path) -> tuple[str, str]:
    """What ptxas says, and the sections of what it has made."""
    command = ["nvcc", *FLAGS, f"-arch=sm_{architecture}", "-Xptxas", "-v", "-cubin", f"-I{CSRC}"]
    said = subprocess.run(
        [*command, str(source), "-o", str(cubin)], check=True, capture_output=True, text=True
    ).stderr
    sections = subprocess.run(  # it warns of sections that are NVIDIA's own
        ["readelf", "-SW", str(cubin)], check=True, capture_output=True, text=True
    ).stdout
    return said, sections


def _read(said: str, sections: str) -> Iterator[MachineCode]:
    sizes = {match["name"]: int(match["size"], 16) for match in SECTION.finditer(sections)}
    for match in ENTRY.finditer(said):
        yield MachineCode(
            kernel=kernel_name(match["name"]),
            registers=int(match["registers"]),
            stack_bytes=int(match["stack"]),
            spilled_bytes=int(match["stores"]) + int(match["loads"]),
            code_bytes=sizes[match["name"]],
        )


def kernel_name(mangled: str) -> str:
    """As people call it; the mangled name where it is none of ours."""
    return next((name for part, name in KERNELS.items() if part in mangled), mangled)
