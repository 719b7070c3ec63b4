"""Servers of both under the same open-loop load, on the same weights."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from benchmarks.nemo_streams.in_process import BEHIND, FEATURE, RATE, Contest
from benchmarks.server import sherpa_served
from benchmarks.server.sherpa_served import (
    LEAST_MAX_STREAMS,
    SHERPA_SERVER,
    WORK_THREADS,
    Server,
)
from benchmarks.server.spoken_hour import RATE_HZ
from benchmarks.server.talks import EarshotTalk, SherpaTalk
from earshot.models.native.precision import Precision

QUERY = "&mode=transducer_greedy_search&endpointing=false"
LEAST_TAIL_S = 0.8
"""Silence behind an utterance, the default of the peer's server."""


def servers_of(contest: Contest, peer_python: Path) -> dict[str, Server]:
    """By their names on the command line."""
    return {
        "sherpa": Server("sherpa-onnx fp32", _sherpa(contest, peer_python, False), SherpaTalk),
        "sherpa-int8": Server("sherpa-onnx int8", _sherpa(contest, peer_python, True), SherpaTalk),
        **{
            f"earshot-{precision}": Server(
                f"Earshot {precision}",
                functools.partial(_earshot, contest, precision),
                lambda: EarshotTalk(QUERY),
            )
            for precision in get_args(Precision)
        },
    }


def rows(
    contests: Sequence[Contest],
    asked: Sequence[tuple[int, str, list[int]]],
    seconds: float,
    peer_python: Path,
    folder: Path,
) -> list[list[str]]:
    """Lines of the table, for each right context, server and its numbers of users."""
    by_right = {contest.frames - 1: contest for contest in contests}
    most = max((count for _, _, counts in asked for count in counts), default=0)
    clips, lines = sherpa_served.utterances(most), []
    for right, name, counts in asked:
        contest = by_right[right]
        server = servers_of(contest, peer_python)[name]
        for users in counts:
            heard = sherpa_served.load_server(server, users, seconds, clips, folder)
            lines.append(sherpa_served.row(contest.name, server, heard, has_words=False))
    return lines


def users_of(asked: Sequence[str]) -> list[tuple[int, str, list[int]]]:
    """Right context, server and numbers of users of each "RIGHT:SERVER=N,N"."""
    found = []
    for each in asked:
        right, _, rest = each.partition(":")
        server, _, counts = rest.partition("=")
        found.append((int(right), server, [int(count) for count in counts.split(",")]))
    return found


def tail_s(contest: Contest) -> float:
    """Silence that the peer has to add for an utterance's last frames to be in some chunk."""
    window = contest.frames * RATE + BEHIND
    return max(window * FEATURE / RATE_HZ, LEAST_TAIL_S)


def _earshot(contest: Contest, precision: Precision, port: int, streams: int) -> list[str]:
    limit = max(LEAST_MAX_STREAMS, 2 * streams)
    return [
        sys.executable, "-m", "earshot.service", "serve", "--port", str(port), "--max-streams",
        str(limit), "--model", str(contest.model), "--graph", "none", "--chunk-size",
        str(contest.frames), "--precision", precision,
    ]  # fmt: skip


def _sherpa(contest: Contest, peer_python: Path, int8: bool) -> Callable[[int, int], list[str]]:
    def command(port: int, streams: int) -> list[str]:
        del streams  # it has no limit
        return [
            str(peer_python.with_name(SHERPA_SERVER)), f"--port={port}", "--num-io-threads=1",
            f"--num-work-threads={WORK_THREADS}", "--num-threads=1", "--enable-endpoint=false",
            f"--end-tail-padding={tail_s(contest):g}", *contest.files.flags(int8),
        ]  # fmt: skip

    return command
