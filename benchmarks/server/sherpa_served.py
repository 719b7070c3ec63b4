"""Servers on the same weights under the same open-loop load: Earshot's, and sherpa-onnx's."""

import asyncio
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import soundfile

from benchmarks.report import SHARED
from benchmarks.server.open_load import Heard, OpenLoad
from benchmarks.server.server_process import HOST, cpu_s, free_port, server_process
from benchmarks.server.sherpa_in_process import CHUNK_SIZE, CHUNKING, NUM_LEFT_CHUNKS, Contest
from benchmarks.server.spoken_hour import librispeech
from benchmarks.server.talks import EarshotTalk, SherpaTalk, Talk
from earshot.service.bench.clips import Clip
from earshot.service.bench.measurements import Percentiles
from earshot.service.bench.word_errors import word_errors

SHERPA_SERVER = "sherpa-onnx-online-websocket-server"
WORK_THREADS = 2
LEAST_MAX_STREAMS = 64
"""Of Earshot's server. An utterance may begin before the final of the last one: twice the users."""
GREEDY_QUERY = "&mode=ctc_greedy_search&endpointing=false"
HEADER = (
    "model", "server", "streams", "holds", "CPU ms per s of audio", "cores used", "by the load",
    "final p50 / p95 / p99 ms", "finals", "failures", "WER", "send delay p99 ms",
)  # fmt: skip


@dataclass(frozen=True)
class Server:
    """A server as a table has it: `command` of a port and a number of streams starts it."""

    name: str
    command: Callable[[int, int], list[str]]
    talk: Callable[[], Talk]


def servers_of(contest: Contest, peer_python: Path) -> dict[str, Server]:
    """By their names on the command line."""
    greedy = functools.partial(_earshot, contest, ["--graph", "none", *CHUNKING])
    return {
        "sherpa": Server("sherpa-onnx fp32", _sherpa(contest, peer_python, False), SherpaTalk),
        "sherpa-int8": Server("sherpa-onnx int8", _sherpa(contest, peer_python, True), SherpaTalk),
        "greedy": Server("Earshot, greedy", greedy, lambda: EarshotTalk(GREEDY_QUERY)),
        "earshot": Server(
            "Earshot, all defaults", functools.partial(_earshot, contest, []), EarshotTalk
        ),
    }


def _earshot(contest: Contest, flags: Sequence[str], port: int, streams: int) -> list[str]:
    limit = max(LEAST_MAX_STREAMS, 2 * streams)
    return [
        sys.executable, "-m", "earshot.service", "serve", "--port", str(port), "--max-streams",
        str(limit), "--model", str(contest.model), *flags,
    ]  # fmt: skip


def _sherpa(contest: Contest, peer_python: Path, int8: bool) -> Callable[[int, int], list[str]]:
    def command(port: int, streams: int) -> list[str]:
        del streams  # it has no limit
        return [
            str(peer_python.with_name(SHERPA_SERVER)), f"--port={port}", "--model-type=wenet_ctc",
            f"--num-work-threads={WORK_THREADS}", "--num-io-threads=1", "--num-threads=1",
            f"--tokens={contest.files.tokens}", f"--wenet-ctc-model={contest.files.network(int8)}",
            f"--wenet-ctc-chunk-size={CHUNK_SIZE}",
            f"--wenet-ctc-num-left-chunks={NUM_LEFT_CHUNKS}", "--enable-endpoint=false",
        ]  # fmt: skip

    return command


def utterances(count: int) -> list[Clip]:
    """Recordings of readers, at most so many, with what they read."""
    speech, found = SHARED / "speech", []
    for name, text in librispeech(speech / "dev.tsv"):
        samples, _ = soundfile.read(speech / name, dtype="int16")
        found.append(Clip(name, samples.astype("<i2").tobytes(), text))
        if len(found) == count:
            break
    return found


def load_server(
    server: Server, streams: int, seconds: float, clips: Sequence[Clip], folder: Path
) -> Heard:
    """Start it, let so many users speak, end it."""
    port = free_port()
    with server_process(server.command(port, streams), port, folder) as pid:

        async def loaded() -> Heard:
            load = OpenLoad(f"ws://{HOST}:{port}", server.talk, streams, seconds)
            return await load.run(clips, functools.partial(cpu_s, pid))

        return asyncio.run(loaded())


def row(model: str, server: Server, heard: Heard, has_words: bool) -> list[str]:
    """One line of the table; has_words: whether errors are counted in what the model says."""
    final = heard.final
    cells = [
        model, server.name, str(heard.streams), "yes" if heard.holds else "no",
        f"{1000 * heard.cpu_s / max(heard.audio_s, 1e-9):.1f}",
        f"{heard.cpu_s / heard.seconds:.2f}", f"{heard.own_cpu_s / heard.seconds:.2f}",
        f"{final.p50_ms:.0f} / {final.p95_ms:.0f} / {final.p99_ms:.0f}",
        str(len(heard.finals_s)), str(len(heard.failures)),
        f"{100 * word_errors(heard.texts):.1f} %" if has_words else "-",
        f"{Percentiles.of(heard.send_delays_s).p99_ms:.0f}",
    ]  # fmt: skip
    print("  ".join(cells), *sorted(set(heard.failures))[:3], sep="\n  ", flush=True)
    return cells
