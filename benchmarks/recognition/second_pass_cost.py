"""Claim: the second pass by Whisper's decoder costs half of what it would cost to ask all it could.

``python -m benchmarks.recognition.second_pass_cost MODEL``: a directory whose model has Whisper's
decoder, with its graph beside it. Each recording is a stream of its own on one thread; the parts
are timed by the engine thread's own CPU clock, so that other processes do not count.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import soundfile

from benchmarks.report import SHARED, table, write_report
from benchmarks.server.batching import run_all
from benchmarks.wfst.bundled import recordings
from benchmarks.wfst.word_errors import WordErrors
from earshot.language.text.transcript_text import normalise_text
from earshot.models.whisper_decoder import own_text
from earshot.models.whisper_decoder.heard_segment import HeardSegment
from earshot.models.whisper_decoder.whisper_scorer import Segments, WhisperScorer
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.parts.resolver import find_parts
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.u2.written_pass import WrittenPass
from earshot.training.corpus.utterance import Utterance

DEV = SHARED / "speech" / "dev.tsv"
PARTS = {
    "memory": (WhisperScorer, "listen"),
    "writing": (Segments, "write"),
    "held to CTC": (HeardSegment, "candidates"),
    "ranking": (Segments, "rank"),
    "all": (WrittenPass, "__call__"),
}
BEST = {"interim_results": False}
EVERY = {**BEST, "alternatives": 100}
ARMS: Mapping[str, tuple[int, int, dict[str, Any]]] = {
    "14 words guessed, all texts to their ends": (14, 14, EVERY),
    "14 words guessed": (14, 14, BEST),
    "as served": (own_text.WORDS_AHEAD, own_text.MOST_AHEAD, BEST),
}


@contextmanager
def timed(spent: dict[str, float], counted: Counter[str]) -> Iterator[None]:
    """Seconds of each of the parts, and how often it was called, while this lasts."""

    def noting(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            begun = time.thread_time()
            found = call(*arguments, **named)
            spent[part] += time.thread_time() - begun
            counted[part] += 1
            return found

        return noted

    with ExitStack() as stack:
        for part, (owner, name) in PARTS.items():
            call = noting(part, getattr(owner, name))
            stack.enter_context(mock.patch.object(owner, name, call))
        yield


def run(engine: Engine, chosen: list[Utterance], arm: str) -> list[str]:
    """Decode all in turn; returns a line: milliseconds an ending by part, and wrong words."""
    ahead, most, config = ARMS[arm]
    spent, counted = dict.fromkeys(PARTS, 0.0), Counter[str]()
    texts: list[str] = []
    with (
        mock.patch.object(own_text, "WORDS_AHEAD", ahead),
        mock.patch.object(own_text, "MOST_AHEAD", most),
        timed(spent, counted),
    ):
        for each in chosen:
            samples, _ = soundfile.read(each.path, dtype="float32")
            (text,) = run_all(engine, [samples], StreamConfig(**config))
            texts.append(normalise_text(text) or "")
    endings = counted["all"]
    cost = [f"{1000 * spent[part] / endings:.1f}" for part in PARTS]
    errors = WordErrors.of([each.text for each in chosen], texts)
    return [arm, *cost, str(errors)]


def main() -> None:
    """Measure, and write docs/benchmarks/second_pass_cost.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="bfloat16")
    options = parser.parse_args()
    chosen = recordings(DEV, options.count, seed=36, corpora=["librispeech"])
    config = EngineConfig(
        max_streams=2, max_batch=1, threads=1, max_backlog_s=80.0, precision=options.precision
    )
    parts = {name: path for name, path in find_parts(options.model).items() if name != "neural_lm"}
    engine = build_engine(options.model, parts, config, device="cpu")
    engine.start()
    try:
        for arm in ARMS:
            run(engine, chosen[:3], arm)
        lines = [run(engine, chosen, arm) for arm in ARMS]
    finally:
        engine.stop(timeout_s=10)
    seconds = sum(each.seconds for each in chosen) / len(chosen)
    body = (
        f"{len(chosen)} recordings of books, {seconds:.1f} s on average, each a stream of its own, "
        f"{options.precision}, no neural LM after it; milliseconds of one core for each segment "
        "that ends.\n\n" + table(["", *PARTS, "words wrong"], lines)
    )
    print(write_report("second_pass_cost", "What the second pass by Whisper's decoder costs", body))


if __name__ == "__main__":
    main()
