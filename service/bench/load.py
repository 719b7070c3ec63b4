"""Runs of many callers at once."""

import asyncio
import random
import time
from collections.abc import Callable, Iterable, Sequence

from earshot.service.bench.caller import Caller, Change, Window, transcribe_alone
from earshot.service.bench.clips import Clip, playlist
from earshot.service.bench.measurements import Measurements
from earshot.service.bench.target import Target

START_SPREAD_S = 10.0


async def texts_alone(
    target: Target, clips: Sequence[Clip], on_clip: Callable[[float], None]
) -> dict[str, str]:
    """Transcribe each clip as the only stream: what every caller must hear under load too."""
    alone = {}
    for clip in clips:
        alone[clip.name] = await transcribe_alone(target.ws_url, clip)
        on_clip(1)
    return alone


async def run_load(
    target: Target,
    clips: Sequence[Clip],
    alone: dict[str, str],
    streams: int,
    duration_s: float,
    seed: int,
    changes: Callable[[int], Iterable[Change]] = lambda _: (),
) -> Measurements:
    """Have ``streams`` callers speak; measure for ``duration_s`` after the last one began.

    changes: what each asks for on the way, by its number.
    """
    begin = time.monotonic() + 0.5
    spread_s = min(START_SPREAD_S, duration_s / 4)
    window = Window(begin + spread_s, begin + spread_s + duration_s)
    starts = random.Random(seed)
    into = Measurements(streams, duration_s)
    callers = [
        Caller(target.ws_url, playlist(clips, seed + index), alone, window, changes(index)).run(
            begin + starts.uniform(0, spread_s), into
        )
        for index in range(streams)
    ]
    cpu = asyncio.create_task(_cpu_of(target, window))
    await asyncio.gather(*callers)
    into.cpu_s = await cpu
    return into


async def _cpu_of(target: Target, window: Window) -> float | None:
    await asyncio.sleep(max(0.0, window.opens_at - time.monotonic()))
    before = await asyncio.to_thread(target.cpu_s)
    await asyncio.sleep(max(0.0, window.closes_at - time.monotonic()))
    after = await asyncio.to_thread(target.cpu_s)
    return None if before is None or after is None else after - before
