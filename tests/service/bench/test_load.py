"""The load generator against a real server with the scripted engine."""

import json

import numpy as np
import pytest

from earshot.service.bench.caller import Change
from earshot.service.bench.clips import Clip
from earshot.service.bench.load import run_load, texts_alone
from earshot.service.bench.measurements import Summary
from earshot.service.bench.target import Target
from earshot.service.errors import StartupError


@pytest.fixture
def clips():
    """Half a second each, of different loudness, which the scripted engine hears as words."""
    return [
        Clip(f"clip {level}", np.full(8000, level * 320, "<i2").tobytes(), f"w{level}")
        for level in (10, 20, 30)
    ]


async def test_a_load_is_measured(live, clips):
    live.engine.max_streams = 8
    target = Target(live.http)
    counted = []
    alone = await texts_alone(target, clips, counted.append)
    assert alone == {"clip 10": "w10", "clip 20": "w20", "clip 30": "w29"}
    assert counted == [1, 1, 1]

    run = await run_load(target, clips, alone, streams=6, duration_s=2.0, seed=0)
    summary = Summary.of(run)
    assert run.failures == []
    assert summary.wer_to_alone == 0.0
    assert summary.wer == pytest.approx(1 / 3, abs=0.3)  # w30 is heard as w29
    assert summary.utterances >= 6
    assert summary.final.p50_ms > 0
    # Open loop: six streams in real time for two seconds, less the clips that did not fit.
    assert 6.0 <= run.audio_s <= 6 * 2.0 + 0.1
    assert run.cpu_s > 0
    assert live.engine.streams == []


async def test_callers_change_what_they_ask_for_on_the_way(live, clips):
    alone = {clip.name: clip.text for clip in clips}
    asked = [Change(0.2, json.dumps({"type": "Configure", "keyterms": ["word"]})),
             Change(0.4, json.dumps({"type": "Configure", "lm": "no such model"})),
             Change(900.0, "never sent")]  # fmt: skip
    run = await run_load(
        Target(live.http), clips, alone, streams=1, duration_s=2.0, seed=0, changes=lambda _: asked
    )
    assert run.failures == []
    assert (run.changes, run.refused_changes) == (2, 1)


async def test_streams_that_are_refused_are_failures(live, clips):
    live.engine.max_streams = 1
    alone = {clip.name: clip.text for clip in clips}
    run = await run_load(Target(live.http), clips, alone, streams=3, duration_s=1.0, seed=0)
    assert len(run.failures) == 2
    assert all("429" in failure for failure in run.failures)
    assert not Summary.of(run).holds


async def test_words_mixed_up_between_streams_are_noticed(live, clips):
    alone = {clip.name: "something else" for clip in clips}
    run = await run_load(Target(live.http), clips, alone, streams=1, duration_s=1.0, seed=0)
    assert Summary.of(run).wer_to_alone > 0


def test_no_server_is_one_line():
    with pytest.raises(StartupError, match=r"no server answers at http://127\.0\.0\.1:9"):
        Target("http://127.0.0.1:9").model_name()
