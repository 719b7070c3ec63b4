"""An arm that takes turns: Earshot's engine in process, on one thread, as a server sets it up."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.turns import Samples, answer_turns
from benchmarks.server.batching import run_all
from earshot.service.core.engine_setup import running_engine
from earshot.service.settings import Settings
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

BACKLOG_S = 120.0


def greedy_of(modes: Sequence[str]) -> StreamConfig:
    """As the peer decodes: no second pass, and a recording is one utterance."""
    return StreamConfig(
        mode=next(mode for mode in modes if mode.endswith("greedy_search")),
        endpoint=EndpointConfig(silence_ms=None, no_speech_ms=60_000),
    )


def main() -> None:
    """Take turns until nobody asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", type=Path)
    parser.add_argument("--together", type=int, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--greedy", action="store_true", help="else with all defaults")
    parser.add_argument("--chunk-size", type=int)
    parser.add_argument("--num-left-chunks", type=int)
    parser.add_argument("--precision", default="auto")
    asked = parser.parse_args()
    settings = Settings.load(
        model=asked.model, graph="none" if asked.greedy else None, threads=1,
        chunk_size=asked.chunk_size, num_left_chunks=asked.num_left_chunks,
        max_streams=asked.together, max_backlog_s=BACKLOG_S, precision=asked.precision,
    )  # fmt: skip
    with running_engine(settings) as engine:
        config = greedy_of(engine.model.modes) if asked.greedy else StreamConfig()

        def decode(audio: Sequence[Samples]) -> list[str]:
            return run_all(engine, list(audio), config)

        answer_turns(decode, asked.clips, asked.together)


if __name__ == "__main__":
    main()
