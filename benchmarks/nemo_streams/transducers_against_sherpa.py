"""Claim: NeMo's streaming transducers cost what it says, here and in sherpa-onnx.

The peer lives in an environment of its own, whose Python `--peer-python` names; it needs this one's
version of Python, sherpa-onnx, sherpa-onnx-bin, onnx and onnxruntime. The model is made of random
weights, in `--folder` once for all runs (3 GB with all exports). `--rounds 0` leaves out the
engines, `--users` without any the servers; the page is written with `--write` alone.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.nemo_streams import in_process, served
from benchmarks.nemo_streams.made_model import contests_of
from benchmarks.nemo_streams.streaming_model import RIGHTS
from benchmarks.report import table, write_report
from benchmarks.server import sherpa_served
from benchmarks.server.against_sherpa import version_of

TOGETHER = (1, 4, 16, 40)
PAGE = "transducers_against_sherpa"


def page(engines: list[list[str]], servers: list[list[str]], arguments: argparse.Namespace) -> str:
    """What was found."""
    parts = [
        f"""
A FastConformer RNN-T of 114 million random parameters (17 layers of 512, 8 heads, left context of
70 frames), whose head finds some 3.5 labels a second, greedy search, no endpoints. sherpa-onnx
{version_of(arguments.peer_python)} gets an export that computes what NeMo's own do: in float32,
with frames that differ from Earshot's by 1e-3 at most, and in int8 as its scripts make it of such
models.
"""
    ]
    if engines:
        parts.append(
            f"""
## In process

LibriSpeech, up to {arguments.seconds:g} s a stream in whole chunks, so many streams at once, one
thread, {arguments.rounds} rounds, arms in turns, each in a process of its own. Median and spread;
less is better. Chunks of the peer lie two frames later and its features differ a little, so that
random weights find other labels: letters a second tell how many. Earshot takes at most 16 streams
in a step.

{table(in_process.HEADER, engines)}
"""
        )
    if servers:
        parts.append(
            f"""
## Served

Users speak LibriSpeech utterances in real time, in packets of 100 ms, an utterance a connection,
whether or not the server answers. {arguments.load_seconds:g} s for each count after the last user
began. A count holds while 95 % of finals come within one second of the last packet, and no
connection fails. sherpa-onnx has {sherpa_served.WORK_THREADS} work threads, Earshot its defaults
but for the precision.

{table(("chunk", *sherpa_served.HEADER[1:]), servers)}
"""
        )
    return "".join(parts)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", type=Path, required=True)
    parser.add_argument("--folder", type=Path, help="of model and exports, kept; else a temporary")
    parser.add_argument("--rights", type=int, nargs="+", default=RIGHTS, choices=RIGHTS)
    parser.add_argument("--together", type=int, nargs="+", default=TOGETHER, metavar="N")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each stream, 19 at most")
    parser.add_argument("--rounds", type=int, default=3, help="in process; 0 leaves it out")
    parser.add_argument(
        "--users", nargs="*", default=[], metavar="RIGHT:SERVER=N,N",
        help="servers (sherpa, sherpa-int8, earshot-PRECISION) and users, as in 13:sherpa=10,20",
    )  # fmt: skip
    parser.add_argument("--load-seconds", type=float, default=60.0, help="of each count of users")
    parser.add_argument("--write", action="store_true", help="the page")
    return parser.parse_args()


@contextmanager
def kept_in(folder: Path | None) -> Iterator[Path]:
    """The folder, or one that is gone with the block."""
    if folder is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder.resolve()


def main() -> None:
    """Run it and print, or write, the page."""
    arguments = parsed()
    with kept_in(arguments.folder) as folder:
        python = arguments.peer_python.absolute()
        contests = contests_of(folder, arguments.rights, python)
        engines = [
            line
            for contest in (contests if arguments.rounds else ())
            for line in in_process.rows(
                contest, arguments.together, arguments.seconds, arguments.rounds, python, folder
            )
        ]
        users = served.users_of(arguments.users)
        servers = served.rows(contests, users, arguments.load_seconds, python, folder)
    body = page(engines, servers, arguments)
    print(body)
    if arguments.write:
        title = "NeMo's streaming transducers in sherpa-onnx"
        print(write_report(PAGE, title, body.lstrip()))


if __name__ == "__main__":
    main()
