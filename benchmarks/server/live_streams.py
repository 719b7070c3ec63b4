"""Claim: this machine carries that many live streams.

Runs `earshot bench` (open loop, real-time pacing, staggered starts, distinct audio) for each count,
against a server of its own, and writes one table. A count holds while 95 % of finals come within a
second of the chunk that completes them, at most 0.1 % of results are late, lag does not grow, and
every text is what the same audio gives alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.report import SHARED, table, write_report

COUNTS = (1, 40, 60, 80, 100)


def bench(streams: int, duration_s: float, audio: Path, server_flags: list[str]) -> dict[str, Any]:
    """Run one count and return its line."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [
            str(Path(sys.executable).with_name("earshot")), "bench", "--streams", str(streams),
            "--duration", f"{duration_s:g}", "--audio", str(audio), "--clips", str(max(COUNTS)),
            "--json", str(result), "--", *server_flags,
        ]  # fmt: skip
        subprocess.run(command, check=False)  # it fails where a count does not hold
        answer: dict[str, Any] = json.loads(result.read_text())
    return {"model": answer["model"], **answer["runs"][0]}


def milliseconds(percentiles: dict[str, float]) -> str:
    """Three percentiles in one cell."""
    return " / ".join(f"{percentiles[name]:.0f}" for name in ("p50_ms", "p95_ms", "p99_ms"))


def row(run: dict[str, Any]) -> list[str]:
    """One line of the table."""
    return [
        str(run["streams"]),
        "yes" if run["holds"] else "no",
        milliseconds(run["partial"]),
        milliseconds(run["final"]),
        f"{run['cpu_s_per_audio_s']:.4f}",
        f"{100 * run['late_share']:.2f} %",
        f"{run['lag_growth_ms']:.0f}",
        f"{100 * run['wer_to_alone']:.2f} %",
        f"{100 * run['wer']:.1f} %",
        str(run["utterances"]),
        f"{run['send_delay_p99_ms']:.0f}",
    ]


def main() -> None:
    """Run it and write docs/benchmarks/live_streams.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, nargs="+", default=COUNTS)
    parser.add_argument("--duration", type=float, default=120.0)
    parser.add_argument("--audio", type=Path, default=SHARED / "speech" / "dev.tsv")
    parser.add_argument("server_flags", nargs="*", default=[])
    arguments = parser.parse_args()
    flags = list(arguments.server_flags)
    runs = [bench(n, arguments.duration, arguments.audio, flags) for n in arguments.streams]
    header = [
        "streams", "holds", "partial p50 / p95 / p99 ms", "final p50 / p95 / p99 ms",
        "CPU s per audio s", "late", "lag growth ms", "WER to alone", "WER", "finals",
        "send delay p99 ms",
    ]  # fmt: skip
    body = f"""
Model {runs[0]["model"]}; {arguments.duration:g} s for each count after the last start; up to
{max(COUNTS)} distinct utterances of the dev set of every corpus; server flags:
{" ".join(flags) or "none"}.
The load generator runs on the same machine, and its CPU time is not in the table: "send delay" is
how late it was itself.

{table(header, [row(run) for run in runs])}

"Final" is the time from the last audio of an utterance, which a `Finalize` follows, to its final
result; "partial" from when a piece of audio was due to the partial that covers it. "Late" is what
comes more than a second after that. "WER to alone" compares every text with that of the same audio
as the only stream.
"""
    print(body)
    print(write_report("live_streams", "Live streams on one machine", body.lstrip()))


if __name__ == "__main__":
    main()
