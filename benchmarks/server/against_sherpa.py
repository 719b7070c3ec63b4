"""Claim: on the same weights and audio Earshot costs and carries what it says beside sherpa-onnx.

The peer lives in an environment of its own, whose Python `--peer-python` names; it needs this one's
version of Python, sherpa-onnx, sherpa-onnx-bin, onnx and onnxruntime. It reads causal conformers:
`--model` names a directory of one, with graph and language models beside it (the bundled model is
none). `--rounds 0` leaves out one part, `--streams` without any the other; the page is written
where both are run.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.large_model import write_large_model
from benchmarks.peers.sherpa_export import export_apart
from benchmarks.report import table, write_report
from benchmarks.server import sherpa_in_process, sherpa_served
from benchmarks.server.batching import CLIP_S
from benchmarks.server.sherpa_in_process import CHUNK_SIZE, CLIPS, NUM_LEFT_CHUNKS, Contest

LARGE_CLIP_S = 10.0
CONFORMER, LARGE = "conformer", "large"
STREAMS = ("sherpa=200,260,320", "sherpa-int8=260,320", "greedy=200,260,320", "earshot=40,80,120")


def contests_of(model: Path, large: bool, peer_python: Path, folder: Path) -> dict[str, Contest]:
    """Models, each exported for the peer, by name."""
    models = {CONFORMER: model}
    if large:
        models[LARGE] = write_large_model(folder / LARGE)
    found = {}
    for name, directory in models.items():
        out = folder / f"{name}.onnx"
        files = export_apart(directory, out, peer_python, CHUNK_SIZE, NUM_LEFT_CHUNKS)
        clip_s = LARGE_CLIP_S if name == LARGE else CLIP_S
        found[name] = Contest(name, directory, files, clip_s, random=name == LARGE)
    return found


def counts_of(asked: Sequence[str]) -> list[tuple[str, str, list[int]]]:
    """Model, server and numbers of streams of each "[MODEL:]SERVER=N,N"."""
    found = []
    for each in asked:
        name, _, counts = each.partition("=")
        model, _, server = name.rpartition(":")
        found.append((model or CONFORMER, server, [int(count) for count in counts.split(",")]))
    return found


def served(
    contests: dict[str, Contest], arguments: argparse.Namespace, folder: Path
) -> list[list[str]]:
    """Lines of the table of servers."""
    asked = counts_of(arguments.streams)
    most = max((count for _, _, counts in asked for count in counts), default=0)
    clips, lines = sherpa_served.utterances(most), []
    for model, name, counts in asked:
        contest = contests[model]
        server = sherpa_served.servers_of(contest, arguments.peer_python)[name]
        for streams in counts:
            heard = sherpa_served.load_server(server, streams, arguments.seconds, clips, folder)
            lines.append(sherpa_served.row(contest.name, server, heard, not contest.random))
    return lines


def page(
    in_process: list[list[str]], of_servers: list[list[str]], arguments: argparse.Namespace
) -> str:
    """What both parts found."""
    return f"""
Both have the same weights ("conformer" is {arguments.model.name}; "large", where it is there, a
U2++ conformer of 12 blocks of 256 with random weights), in chunks of {CHUNK_SIZE} frames with
{NUM_LEFT_CHUNKS} chunks of left context, greedy search, no endpoints; "all defaults" is Earshot
with its own chunks, the graph, the second pass and the neural language model. sherpa-onnx
{version_of(arguments.peer_python)} gets an ONNX export whose log-probabilities were compared with
Earshot's; int8 is onnxruntime's dynamic quantisation of MatMul. Silence that each adds to a
recording, sherpa-onnx 0.8 s at its end, costs CPU time and is not counted as audio.

## In process

{CLIPS} distinct clips of {CLIP_S:g} s (large: {LARGE_CLIP_S:g} s) of
LibriSpeech, so many at once, one thread, {arguments.rounds} rounds, arms in turns, each in a
process of its own. Median and spread; less is better.

{table(sherpa_in_process.HEADER, in_process)}

## Served

Users speak LibriSpeech utterances in real time, in packets of 100 ms, an utterance a connection,
whether or not the server answers; nobody says the same words at the time. {arguments.seconds:g} s
for each count after the last user began. A count holds while 95 % of finals come within one second
of the last packet, and no connection fails. CPU is that of all processes of the server; the load
generator runs on the same machine: "by the load" are the cores that it took, "send delay" is how
late it was. sherpa-onnx has {sherpa_served.WORK_THREADS} work threads, Earshot its defaults: an
engine for each core.

{table(sherpa_served.HEADER, of_servers)}
"""


def version_of(peer_python: Path) -> str:
    """The peer's."""
    asked = "import importlib.metadata; print(importlib.metadata.version('sherpa-onnx'))"
    return subprocess.check_output([peer_python, "-c", asked], text=True).strip()


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="directory of a causal conformer")
    parser.add_argument("--rounds", type=int, default=5, help="in process; 0 leaves it out")
    parser.add_argument("--together", type=int, nargs="+", default=(1, 4, CLIPS), metavar="N")
    parser.add_argument(
        "--streams", nargs="*", default=STREAMS, metavar="[MODEL:]SERVER=N,N",
        help=f"servers and users; none leaves it out (default {' '.join(STREAMS)})",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, default=120.0, help="of each count")
    parser.add_argument("--large", action="store_true", help="time a large random model as well")
    return parser.parse_args()


def main() -> None:
    """Run it and, where nothing is left out, write the page."""
    arguments = parsed()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contests = contests_of(arguments.model, arguments.large, arguments.peer_python, folder)
        in_process = [
            line
            for contest in (contests.values() if arguments.rounds else ())
            for line in sherpa_in_process.rows(
                contest, arguments.together, arguments.rounds, arguments.peer_python, folder
            )
        ]
        of_servers = served(contests, arguments, folder)
    body = page(in_process, of_servers, arguments)
    print(body)
    if in_process and of_servers:
        title = "The same weights in sherpa-onnx"
        print(write_report("against_sherpa", title, body.lstrip()))


if __name__ == "__main__":
    main()
