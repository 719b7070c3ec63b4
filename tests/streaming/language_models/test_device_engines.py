"""An engine on a device asks language models while it searches, as an engine on the CPU does."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from emulator import built
from searching import asking_for_all, named

from earshot.streaming.engine.engine import Engine
from earshot.streaming.events import Closed, Configured, Final

SAID = "一二一"
BEYOND_FLOAT = 1e-5
"""Of a cost: posteriors are rounded by who has a batch, prices are not."""


def heard(engine: Engine, sounds) -> list[list[Final]]:
    """What streams with two models, with none, and with another from the second segment on say."""
    asked = ("tenant", "other", None, "other")
    listeners = [sounds.Listener() for _ in asked]
    streams = [
        engine.open(asking_for_all(lm), listener)
        for lm, listener in zip(asked, listeners, strict=True)
    ]
    for stream in streams:
        stream.push(sounds.speech(SAID))
    streams[-1].finalize()
    listeners[-1].wait_for(lambda event: isinstance(event, Final))
    streams[-1].configure([], named("tenant"))
    listeners[-1].wait_for(lambda event: isinstance(event, Configured))
    streams[-1].push(sounds.speech(SAID))
    for stream, listener in zip(streams, listeners, strict=True):
        stream.finish()
        assert isinstance(listener.wait_for_last(), Closed)
    return [listener.finals for listener in listeners]


def alternatives(final: Final) -> tuple[list[str], list[float]]:
    return [each.text for each in final.alternatives], [each.score for each in final.alternatives]


@pytest.mark.emulated
def test_streams_with_models_are_those_of_the_cpu(
    make_alike, tone_model, emulated: torch.device, sounds
) -> None:
    here = heard(make_alike(), sounds)
    placed = replace(tone_model, model=deepcopy(tone_model.model).to(emulated))
    there = heard(make_alike(placed), sounds)
    said = [[final.alternatives[0].text for final in finals] for finals in here]
    assert said == [["一二一"], ["七二七"], ["七二七"], ["七二七", "一二一"]]
    for one, other in zip(there, here, strict=True):
        for (texts, costs), (expected, own) in zip(
            map(alternatives, one), map(alternatives, other), strict=True
        ):
            assert texts == expected
            assert costs == pytest.approx(own, abs=BEYOND_FLOAT)
    if (emulator := built()) is not None:
        assert emulator.most_threads > 0
