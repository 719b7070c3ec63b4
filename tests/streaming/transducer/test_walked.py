"""A step's walks: what one stream's network says wrong is not the others' loss."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from scripted_transducer import (
    QUIET,
    SIZE,
    ScriptTokenizer,
    frame,
    frames_of,
    scripted_transducer,
)

from earshot.decoder_kernels.transducer.label_loop import LoopMemory
from earshot.streaming.errors import OutputNotFinite
from earshot.streaming.stream.replay import HOST
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transcript import NOTHING_FOUND, Transcript
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder
from earshot.streaming.transducer.walked import Walked, walk_over


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def lane(encoded: torch.Tensor, slot: int) -> SimpleNamespace:
    return SimpleNamespace(encoded=encoded, output=None, stream=SimpleNamespace(slot=slot))


def test_a_lanes_output_are_its_labels_and_where_they_end() -> None:
    loop = label_loop_of(scripted_transducer(), 1)
    only = lane(frames_of([QUIET, frame(2, 4), QUIET]), 0)
    walk_over(loop, [only], [loop.begin()])
    found = only.output.transcript
    assert (found.tokens, found.frames, found.ends) == ((2,), (1,), (5,))
    assert isinstance(found, Transcript)
    assert only.output.after.ahead == 2


def test_an_output_that_is_not_finite_fails_the_step_and_leaves_the_others_theirs() -> None:
    loop = label_loop_of(scripted_transducer(), 2)
    bad, good = lane(torch.full((2, SIZE), float("nan")), 0), lane(frames_of([frame(1)]), 1)
    with pytest.raises(OutputNotFinite, match="not finite"):
        walk_over(loop, [bad, good], [loop.begin()] * 2)
    assert bad.output is None
    assert good.output.transcript.tokens == (1,)


def test_no_lanes_are_no_work() -> None:
    walk_over(label_loop_of(scripted_transducer(), 1), [], [])


def test_what_a_device_remembers_is_replayed_from_the_cpu(emulated: torch.device) -> None:
    loop = label_loop_of(scripted_transducer(), 1)
    decoder = TransducerDecoder(loop, ScriptTokenizer(), 1)
    stream = SimpleNamespace(slot=0)
    decoder.recall(stream, loop.begin().to(emulated))
    remembered = decoder.memory_of(stream)
    assert isinstance(remembered, LoopMemory)
    assert remembered.numbers.equal(loop.begin().numbers)
    rest = Walked(NOTHING_FOUND, loop.begin().to(emulated))
    assert rest.to(HOST).after.numbers.equal(loop.begin().numbers)
