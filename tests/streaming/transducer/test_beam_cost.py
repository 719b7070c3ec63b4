"""What a step of a beam costs in Python: as much after many words as after few."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
import torch
from scripted_transducer import (
    BLANK,
    QUIET,
    SIZE,
    ScriptTokenizer,
    frame,
    scripted_transducer,
    torn,
)
from speaker import ENDLESS, QUICK, Speaker, step

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.streaming.stream_config import Boost
from earshot.streaming.transducer.beam_decoder import BeamDecoder, hypotheses_of
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.searched import Hypotheses, Searched
from earshot.streaming.transducer.transcript import Transcript

WIDTH = 4


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


def calls_of(work: Callable[[], object]) -> int:
    """Calls of Python's and of C's functions, generators' turns among them."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def speaker_with(boosts: tuple[Boost, ...] = ()) -> Speaker:
    loop = label_loop_of(scripted_transducer(), 1, boost_capacity=100)
    beam = LabelBeam(loop, BeamConfig(WIDTH))
    speaker = Speaker(BeamDecoder(loop, beam, ScriptTokenizer(), 1), SIZE, ENDLESS, chunk=1)
    compiled = speaker.decoder.compile("transducer_beam", boosts, QUICK)
    speaker.decoder.configure(speaker.stream, ENDLESS, "transducer_beam", compiled)
    return speaker


def calls_after(words: int, boosts: tuple[Boost, ...] = ()) -> int:
    """Of a step of silence after so many words, of which the last is not sure."""
    speaker = speaker_with(boosts)

    def go_on() -> None:
        step([speaker])
        speaker.decoder.best([speaker.stream])

    speaker.hear(
        [frame(word % 4) for word in range(words)] + [torn(1, 2), torn(BLANK, 3), *[QUIET] * 4]
    )
    for _ in range(words + 4):
        go_on()
    assert len(hypotheses_of(speaker.stream.segment).transcripts) > 1
    return calls_of(go_on)


@pytest.mark.parametrize("boosts", [(), (Boost("二", 0.5), Boost("三", 0.1))])
def test_a_step_that_brings_no_label_costs_the_same_after_many_words(
    boosts: tuple[Boost, ...],
) -> None:
    assert calls_after(160, boosts) == calls_after(10, boosts)


def calls_of_a_word_after(words: int) -> int:
    """Of a step that brings one word after so many and two that are not sure, spelled by nobody."""
    speaker = speaker_with()
    speaker.hear([frame(word % 4) for word in range(words)] + [torn(0, 1), torn(2, 3), frame(1)])
    for _ in range(words + 2):
        step([speaker])
    assert hypotheses_of(speaker.stream.segment).stable == words
    return calls_of(lambda: step([speaker]))


def test_a_word_is_found_at_the_same_cost_after_many_words() -> None:
    """Only what is told of a segment is told as a whole."""
    assert calls_of_a_word_after(160) == calls_of_a_word_after(10)


def chunk_of(word: int, memory: Any) -> Searched:
    """All say the same new label, but the last."""
    said = [Transcript((word,), (0,), (1,), (-0.1,), (-9.0,))] * (WIDTH - 1)
    return Searched(
        (*said, Transcript((word + 1,), (0,), (1,), (-0.1,), (-9.0,))), (0,) * WIDTH, memory
    )


def test_a_new_label_is_compared_with_those_beside_it_alone() -> None:
    memory = LabelBeam(label_loop_of(scripted_transducer(), 1), BeamConfig(WIDTH)).begin()
    found, counts = Hypotheses(), []
    for word in range(200):
        searched = chunk_of(word, memory)
        counts.append(calls_of(lambda found=found, new=searched: found.then(new, 1)))
        found = found.then(searched, 1)
    assert found.stable == 199
    assert counts[-1] == counts[10]


def said_as(*tokens: tuple[int, ...]) -> tuple[Transcript, ...]:
    """One label a frame."""
    frames = (tuple(range(len(each))) for each in tokens)
    return tuple(
        Transcript(each, places, places, (0.0,) * len(each), (0.0,) * len(each))
        for each, places in zip(tokens, frames, strict=True)
    )


def test_what_is_stable_is_what_all_begin_with() -> None:
    def of(*tokens: tuple[int, ...]) -> Hypotheses:
        begin = LabelBeam(label_loop_of(scripted_transducer(), 1), BeamConfig(WIDTH)).begin()
        return Hypotheses().then(Searched(said_as(*tokens), (0,) * len(tokens), begin), 9)

    assert of((1, 2, 3), (1, 2), (1, 2, 4)).stable == 2
    assert of((1, 2, 3)).stable == 3
    assert of((1,), (2,)).stable == 0
    assert of((1, 2, 3), (1, 2), (1, 2, 3, 4)).only([0, 2]).stable == 3
    assert of((1, 2, 3), (1, 2, 3, 4)).until(2).stable == 2
    assert of((1, 2, 3), (1, 4, 5), (1, 2)).alike(0, 2) == [0, 2]
    assert of((1, 2, 3), (1, 4, 5), (1, 2)).alike(0, 1) == [0, 1, 2]
