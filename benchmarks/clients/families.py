"""Claim: clients of other services, unmodified, work here once they know the address.

Each runs in an environment of its own (`build/clients/`), as pip or npm installs it, against one
server of the bundled model with all defaults, and is sent two recordings of the page's examples,
live in pieces of 100 ms, each when it would have been said.
*Partials*: how many came. *Wrong words*: of the worst text, live or of a file. *Errors*: how the
client told of what was done wrongly on purpose: a parameter (a model, format or language that
nobody has), audio that is none. A client that gets less is amiss, and so is the run.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.clients.examples import Example, examples
from benchmarks.clients.family import FAMILIES, NOT_RUN, Family
from benchmarks.clients.tls_front import Front, tls_front
from benchmarks.clients.verdict import Heard, Verdict, judge
from benchmarks.report import below_claim, show_report, table
from benchmarks.server.server_process import HOST, free_port, server_process

PROGRAMS = Path(__file__).with_name("programs")
LONGEST_S = 180.0
HEADER = ("client", "version", "partials", "wrong words", "errors", "what was run")


@dataclass(frozen=True)
class Server:
    """Where one listens, and TLS in front of it."""

    address: str
    wyoming: str
    front: Front

    def of(self, family: Family) -> str:
        """The address that a family is told."""
        if family.is_wyoming:
            return self.wyoming
        return self.front.address if family.needs_tls else self.address

    @property
    def environ(self) -> dict[str, str]:
        """Environment of programs, whose Node trusts the certificate."""
        return {**os.environ, "NODE_EXTRA_CA_CERTS": str(self.front.certificate)}


@contextmanager
def own_server(folder: Path) -> Iterator[tuple[str, str]]:
    """One of the bundled model, while the block runs: its address, and that for Wyoming."""
    port, wyoming = free_port(), free_port()
    command = [
        sys.executable, "-m", "earshot.service", "serve", "--host", HOST, "--port", str(port),
        "--wyoming-port", str(wyoming),
    ]  # fmt: skip
    with server_process(command, port, folder):
        yield f"{HOST}:{port}", f"{HOST}:{wyoming}"


def run(family: Family, server: Server, spoken: Sequence[Example]) -> Verdict:
    """Send every recording; a client that cannot be installed, or fails, is amiss and says why."""
    heard = []
    try:
        family.environment.make()
        command = family.environment.command(PROGRAMS / family.program)
        for example in spoken:
            done = subprocess.run(
                [*command, server.of(family), example.file],
                env=server.environ,
                cwd=family.environment.folder,
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                check=True,
            )
            heard.append(Heard.of(example.said, done.stdout))
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or ["nothing was said"]
        # Node's own version comes behind the error.
        told = next((each for each in reversed(said) if "Error" in each), said[-1])
        return Verdict.failed(told.strip()[:200])
    except (OSError, RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
        return Verdict.failed(str(error)[-200:])
    return judge(heard, texts=family.texts, errors=family.errors, has_partials=family.has_partials)


def line(family: Family, verdict: Verdict) -> list[str]:
    """Cells of the table."""
    version = ", ".join((*family.environment.packages, *family.environment.bare))
    amiss = f"**amiss: {'; '.join(verdict.amiss)}**. " if verdict.amiss else ""
    told = [verdict.partials, verdict.wrong_words, verdict.errors, amiss + family.remark]
    return [family.name, f"`{version}`", *told]


def lines(families: Sequence[Family], server: Server) -> Iterator[tuple[list[str], Verdict]]:
    """Run each, and say so as it ends."""
    with TemporaryDirectory() as folder:
        spoken = examples(Path(folder))
        for family in families:
            verdict = run(family, server, spoken)
            print(f"{family.name}: {'; '.join(verdict.amiss) or 'well'}", flush=True)
            yield line(family, verdict), verdict


@contextmanager
def server_of(asked: argparse.Namespace) -> Iterator[Server]:
    """The one that is named, or our own."""
    with ExitStack() as stack:
        own, before = (Path(stack.enter_context(TemporaryDirectory())) for _ in range(2))
        where = (asked.at, asked.wyoming_at) if asked.at else stack.enter_context(own_server(own))
        yield Server(*where, stack.enter_context(tls_front(where[0], before)))


def page(rows: Sequence[Sequence[str]]) -> str:
    """The report below its head."""
    not_run = "\n".join(f"- {name}: {why}." for name, why in NOT_RUN)
    parts = [below_claim(__doc__), table(HEADER, rows), "## Not run", not_run]
    return "\n\n".join(parts) + "\n"


def arguments() -> argparse.Namespace:
    """What is asked on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="those with it in their names")
    parser.add_argument("--at", metavar="HOST:PORT", help="a server that runs already")
    parser.add_argument("--wyoming-at", default=f"{HOST}:10300", metavar="HOST:PORT")
    parser.add_argument("--write", action="store_true", help="the page")
    return parser.parse_args()


def main() -> None:
    """Run it and print, or write, the page; exit with 1 where a client is amiss."""
    asked = arguments()
    families = [each for each in FAMILIES if asked.only.lower() in each.name.lower()]
    with server_of(asked) as server:
        told = list(lines(families, server))
    body = page([cells for cells, _ in told])
    title = "Clients of other services"
    show_report("clients", title, body, is_written=asked.write, script="families")
    if not told or any(verdict.amiss for _, verdict in told):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
