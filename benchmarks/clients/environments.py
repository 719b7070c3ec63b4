"""Environments of the clients: what is installed for each, and where it lies."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import REPOSITORY

FOLDER = REPOSITORY / "build" / "clients"


@dataclass(frozen=True)
class Environment:
    """Packages at their versions, of PyPI (`name==1.0`) or of npm (`name@1.0`).

    `bare` ones come without what they require: a client beside a server's large libraries.
    """

    name: str
    packages: tuple[str, ...]
    bare: tuple[str, ...] = ()
    is_node: bool = False

    @property
    def folder(self) -> Path:
        """Its own below `build/clients/`."""
        return FOLDER / self.name

    def command(self, program: Path) -> list[str]:
        """What runs a program in it, with its folder as the working directory."""
        if self.is_node:
            return ["node", str(program)]
        return [str(self.folder / "bin" / "python"), str(program)]

    def make(self) -> None:
        """Install it, unless it lies there at these versions.

        Raises RuntimeError with the end of what pip or npm says.
        """
        stamp, wanted = self.folder / "packages", "\n".join((*self.packages, "", *self.bare))
        if stamp.is_file() and stamp.read_text() == wanted:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for command in self._node() if self.is_node else self._python():
            _run(command, self.folder)
        stamp.write_text(wanted)

    def _python(self) -> list[list[str]]:
        pip = [str(self.folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        commands = [[sys.executable, "-m", "venv", str(self.folder)], [*pip, *self.packages]]
        return [*commands, [*pip, "--no-deps", *self.bare]] if self.bare else commands

    def _node(self) -> list[list[str]]:
        return [["npm", "install", "--no-audit", "--no-fund", "--prefix", ".", *self.packages]]


DEEPGRAM_7 = Environment("deepgram-7", ("deepgram-sdk==7.17.0",))
DEEPGRAM_6 = Environment("deepgram-6", ("deepgram-sdk==6.1.1",))
DEEPGRAM_3 = Environment("deepgram-3", ("deepgram-sdk==3.11.0",))
LIVEKIT = Environment("livekit", ("livekit-agents==1.8.9", "livekit-plugins-deepgram==1.8.9"))
PIPECAT = Environment("pipecat", ("pipecat-ai[deepgram]==1.14.0",))
OPENAI = Environment("openai", ("openai[realtime]==3.57.0",))
VOSK = Environment("vosk", ("vosk==0.3.45",))
WYOMING = Environment("wyoming", ("wyoming==1.10.2",))
WHISPERLIVEKIT = Environment(
    "whisperlivekit", ("websockets==17.4",), bare=("whisperlivekit==0.2.26",)
)
DEEPGRAM_NODE = Environment("deepgram-node", ("@deepgram/sdk@5.13.0",), is_node=True)
OPENAI_NODE = Environment("openai-node", ("openai@7.59.0", "ws@8.23.0"), is_node=True)


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr)[-2000:]
        raise RuntimeError(f"{' '.join(command)} failed:\n{said}")
