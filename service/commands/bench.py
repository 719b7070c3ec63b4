"""`earshot bench`: how many live streams a server carries."""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from earshot.service.bench.clips import Clip, load_clips
from earshot.service.bench.load import run_load, texts_alone
from earshot.service.bench.measurements import Measurements, Summary
from earshot.service.bench.report import table
from earshot.service.bench.target import Target, own_server
from earshot.service.commands.options.console import progress_bar, say, tell
from earshot.service.commands.options.positive_numbers import positive_count, positive_seconds
from earshot.service.errors import StartupError
from earshot.service.gateway.web_files import SAMPLES_DIR

DOES_NOT_HOLD = 1
RAMP_FACTOR = 1.25
SPARE_STREAMS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the load, the audio and the server."""
    parser.add_argument(
        "--streams", type=positive_count, default=40, help="live streams (default 40)"
    )
    parser.add_argument(
        "--duration", type=positive_seconds, default=120.0, metavar="S",
        help="seconds measured (default 120)",
    )  # fmt: skip
    parser.add_argument(
        "--ramp", action="store_true", help="go on with more streams until a count does not hold"
    )
    parser.add_argument(
        "--audio", type=Path, metavar="DIR|TSV", help="utterances; the page's samples if absent"
    )
    parser.add_argument(
        "--clips",
        type=positive_count,
        default=40,
        help="utterances drawn from the audio (default 40)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw and the starts")
    parser.add_argument("--url", help="a server that runs already, such as http://127.0.0.1:8000")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there as well")
    parser.add_argument(
        "server_flags", nargs="*", metavar="-- FLAG", help="flags of `earshot serve` for our own"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; returns 1 if the count asked for does not hold."""
    if arguments.json is not None and not arguments.json.parent.is_dir():
        raise StartupError(f"--json {arguments.json}: there is no such directory")
    clips = load_clips(
        arguments.audio or SAMPLES_DIR / "samples.json", arguments.clips, arguments.seed
    )
    _check_fits(clips, arguments.duration)
    with _target(arguments) as target:
        model = target.model_name()
        summaries = asyncio.run(_measure(target, clips, arguments))
    say(f"model {model}, {len(clips)} distinct clips, {arguments.duration:g} s each count\n")
    say(table(summaries))
    if arguments.json is not None:
        result = {"model": model, "clips": len(clips), "duration_s": arguments.duration}
        runs = [summary.as_dict() for summary in summaries]
        arguments.json.write_text(json.dumps({**result, "runs": runs}, indent=2) + "\n")
    return 0 if summaries[0].holds else DOES_NOT_HOLD


async def _measure(
    target: Target, clips: list[Clip], arguments: argparse.Namespace
) -> list[Summary]:
    with progress_bar("clips alone, for their texts", len(clips)) as advance:
        alone = await texts_alone(target, clips, advance)
    summaries: list[Summary] = []
    streams = arguments.streams
    while True:
        with progress_bar(f"{streams} streams", arguments.duration) as advance:
            async with _clock(advance):
                run = await run_load(
                    target, clips, alone, streams, arguments.duration, arguments.seed
                )
        _tell_failures(run)
        summaries.append(Summary.of(run))
        if not (arguments.ramp and summaries[-1].holds):
            return summaries
        streams = max(streams + 1, round(streams * RAMP_FACTOR))


@asynccontextmanager
async def _clock(advance: Callable[[float], None]) -> AsyncIterator[None]:
    """Tell how the time goes while something is waited for."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(1.0)
            advance(1.0)

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()


def _tell_failures(run: Measurements) -> None:
    for failure in sorted(set(run.failures)):
        tell(f"  {run.failures.count(failure)} x {failure}")


@contextmanager
def _target(arguments: argparse.Namespace) -> Iterator[Target]:
    if arguments.url is not None:
        yield Target(arguments.url.rstrip("/"))
        return
    # A ramp must end because the machine is full, not because of the admission limit.
    limit = arguments.streams * SPARE_STREAMS
    with own_server(["--max-streams", str(limit), *arguments.server_flags]) as target:
        yield target


def _check_fits(clips: Sequence[Clip], duration_s: float) -> None:
    """A caller stops at the first utterance that ends after the window: each must fit into it."""
    longest_s = max(clip.duration_s for clip in clips)
    if longest_s > duration_s:
        raise StartupError(
            f"--duration {duration_s:g}: the longest utterance takes {longest_s:.1f} s"
        )
