"""Claim: a whole recogniser takes a few hundredths of real time on one thread.

The bundled model with its graph and all defaults, one recording of LibriSpeech at a time and one
thread, by chunk size and by what its layers multiply (the first paper's Table 3). Beside it, with
``--whisper FOLDER``, the published Whisper that it was made from, by faster-whisper, which hears
whole recordings alone and always 30 s of them. Real-time factor: CPU time by the time of the audio;
the arms take turns, and medians of the rounds are told.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import soundfile
import torch

from benchmarks.peers.published_whisper import PublishedWhisper
from benchmarks.recognition.served_wer import DEV, Served
from benchmarks.report import below_claim, table, write_report
from benchmarks.wfst.bundled import recordings
from benchmarks.wfst.word_errors import WordErrors
from earshot.language.text.transcript_text import normalise_text
from earshot.models.bundled import bundled_model_dir
from earshot.models.native.precision import PrecisionChoice
from earshot.streaming.stream_config import WHOLE, StreamConfig, chunk_name
from earshot.training.corpus.utterance import Utterance

SEED = 3
CHUNKS_MS = (WHOLE, 1280.0, 640.0, 320.0)
DEFAULT_FRAMES = 16
PRECISIONS: tuple[PrecisionChoice, ...] = ("float32", "bfloat16")
BEAMS = (5, 1)

Hear = Callable[[Utterance], str]


class Arm:
    """One way to hear, what it took each round, and what it heard."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._factors: list[float] = []
        self._texts: list[str] = []

    def run(self, chosen: Sequence[Utterance]) -> None:
        """One round over all recordings."""
        began = time.process_time()
        self._texts = [self._hear(each) for each in chosen]
        self._factors.append((time.process_time() - began) / seconds(chosen))

    def columns(self, chosen: Sequence[Utterance]) -> list[str]:
        """Factor, spread over the rounds, word errors."""
        errors = WordErrors.of([each.text for each in chosen], self._texts)
        spread = max(self._factors) - min(self._factors)
        return [f"{statistics.median(self._factors):.4f}", f"{spread:.4f}", str(errors)]


def seconds(chosen: Sequence[Utterance]) -> float:
    """How long recordings are together."""
    return float(sum(soundfile.info(each.path).duration for each in chosen))


def ours(served: Served, chunk_ms: float, recording: Utterance) -> str:
    """A stream's text; partial results are left out."""
    config = StreamConfig(interim_results=False, chunk_ms=chunk_ms)
    return served.hear([recording], config).texts[0]


def whispers(whisper: PublishedWhisper, beam_size: int, recording: Utterance) -> str:
    """The published model's text, as transcripts have it."""
    return normalise_text(whisper.hear(recording.path, beam_size))


def main() -> None:
    """Measure, and write docs/benchmarks/real_time_factor.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=30, help="recordings")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whisper", type=Path, help="folder of CTranslate2's form")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = recordings(DEV, options.count, SEED, ["librispeech"])
    model = bundled_model_dir()
    servers = {each: Served(model, DEFAULT_FRAMES, precision=each) for each in PRECISIONS}
    arms = {
        ("ours", chunk_name(chunk_ms), str(precision)): Arm(partial(ours, served, chunk_ms))
        for precision, served in servers.items()
        for chunk_ms in CHUNKS_MS
    }
    if options.whisper:
        whisper = PublishedWhisper(options.whisper)
        for beam in BEAMS:
            hear = partial(whispers, whisper, beam)
            arms[f"Whisper, beam {beam}", "whole", "float32"] = Arm(hear)
    for _ in range(options.rounds):
        for arm in arms.values():
            arm.run(chosen)
    for served in servers.values():
        served.close()
    print(write_report("real_time_factor", "Real-time factor on one thread", body(arms, chosen)))


def body(arms: dict[tuple[str, str, str], Arm], chosen: Sequence[Utterance]) -> str:
    """The page."""
    header = ("", "chunk, ms", "multiplies", "real-time factor", "spread", "word errors, %")
    lines = [[*key, *arm.columns(chosen)] for key, arm in arms.items()]
    about = below_claim(__doc__)
    said = f"{len(chosen)} recordings, {seconds(chosen) / 60:.1f} minutes."
    return f"{about}\n\n{said}\n\n{table(header, lines)}\n"


if __name__ == "__main__":
    main()
