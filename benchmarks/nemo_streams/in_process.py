"""Engines in process on the same weights, in turns: as many streams at once, on one thread each.

Every stream has a number of whole chunks, and every engine hears just those: Earshot's last chunk
ends with the audio, sherpa-onnx is given what it wants to see behind its last one. So a second of
audio is a second of chunks in both.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks.nemo_streams.peer_export import PeerFiles
from benchmarks.nemo_streams.streaming_model import FRAMES_HZ
from benchmarks.peers.turns import Turn
from benchmarks.server.batching import clips
from benchmarks.server.sherpa_in_process import cells_of, take_turns
from benchmarks.server.spoken_hour import RATE_HZ
from earshot.models.native.precision import Precision

RATE = 8
"""Features of an encoder frame."""
FEATURE = RATE_HZ // 100
"""Samples of a feature."""
BEHIND = 10
"""Features that sherpa-onnx wants to see behind its chunks: its window's, and one more."""
FEWEST_CLIPS = 4
HEADER = (
    "chunk", "streams at once", "arm", "CPU ms per s of audio", "min-max", "times sherpa's fp32",
    "letters a second",
)  # fmt: skip


@dataclass(frozen=True)
class Lengths:
    """How much of a recording streams have: `chunks` of `frames` encoder frames.

    A chunk of the encoder hears up to the features of its last frame's first one, so that Earshot
    needs none of the seven behind it.
    """

    frames: int
    chunks: int

    @classmethod
    def within(cls, frames: int, seconds: float) -> Lengths:
        """As many as so many seconds have, with what is needed behind them; one at least."""
        features = round(seconds * RATE * FRAMES_HZ) - BEHIND
        return cls(frames, max(features // (RATE * frames), 1))

    @property
    def seconds(self) -> float:
        """Of all chunks of a stream."""
        return self.chunks * self.frames / FRAMES_HZ

    @property
    def samples(self) -> int:
        """Of a recording for Earshot."""
        return (self.chunks * self.frames * RATE - RATE + 1) * FEATURE

    @property
    def samples_for_peer(self) -> int:
        """Of the same recording for sherpa-onnx."""
        return (self.chunks * self.frames * RATE + BEHIND) * FEATURE


@dataclass(frozen=True)
class Contest:
    """One model in both engines, in chunks of `frames`."""

    model: Path
    files: PeerFiles
    frames: int

    @property
    def name(self) -> str:
        """The chunk's duration."""
        return f"{1000 * self.frames / FRAMES_HZ:.0f} ms"

    def commands(
        self, ours: Path, theirs: Path, together: int, peer_python: Path
    ) -> dict[str, list[str]]:
        """How each arm is started, with its recordings; the peer's fp32 comes first."""

        def sherpa(int8: bool) -> list[str]:
            child = [str(peer_python), "-m", "benchmarks.nemo_streams.peer_turns", str(theirs)]
            return [*child, "--together", str(together), *self.files.flags(int8)]

        earshot = [
            sys.executable, "-m", "benchmarks.server.engine_turns", str(ours), "--together",
            str(together), "--model", str(self.model), "--greedy", "--chunk-size",
            str(self.frames), "--precision",
        ]  # fmt: skip
        return {
            "sherpa-onnx fp32": sherpa(int8=False),
            "sherpa-onnx int8": sherpa(int8=True),
            **{f"Earshot {precision}": [*earshot, precision] for precision in get_args(Precision)},
        }


def rows(
    contest: Contest,
    together: Sequence[int],
    seconds: float,
    rounds: int,
    peer_python: Path,
    folder: Path,
) -> list[list[str]]:
    """Lines of the table, for each number of streams at once, of about so many seconds each."""
    lengths, lines = Lengths.within(contest.frames, seconds), []
    ours, theirs = folder / "ours.npy", folder / "theirs.npy"
    for streams in together:
        audio = np.stack(clips(max(streams, FEWEST_CLIPS)))
        np.save(ours, audio[:, : lengths.samples])
        np.save(theirs, audio[:, : lengths.samples_for_peer])
        arms = contest.commands(ours, theirs, streams, peer_python)
        taken, audio_s = take_turns(arms, rounds, folder), len(audio) * lengths.seconds
        costs = {
            name: [1000 * turn.cpu_s / audio_s for turn in turns] for name, turns in taken.items()
        }
        said = [f"{letters(turns[0]) / audio_s:.1f}" for turns in taken.values()]
        cells = zip(cells_of(costs), said, strict=True)
        lines += [[contest.name, str(streams), *cost, each] for cost, each in cells]
    return lines


def letters(turn: Turn) -> int:
    """Of all texts, spaces left out: how much there was to decode."""
    return sum(len("".join(text.split())) for text in turn.texts)
