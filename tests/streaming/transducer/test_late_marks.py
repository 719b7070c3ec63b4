"""A full stop that comes with the silence after its utterance: nobody begins to speak with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from scripted_transducer import QUIET, SIZE, UNITS, ScriptTokenizer, frame, scripted_transducer
from speaker import Speaker

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

ONE, TWO, STOP = frame(0), frame(1), frame(2)


class MarkTokenizer(ScriptTokenizer):
    """The third unit is a full stop."""

    def __init__(self) -> None:
        symbols = (*UNITS[:2], "。", *UNITS[3:])
        Tokenizer.__init__(self, UnitTable.of(symbols, "script"), special=UNITS[-1:])


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with torch.inference_mode():
        loop = label_loop_of(scripted_transducer(), 1)
        yield Speaker(TransducerDecoder(loop, MarkTokenizer(), 1), SIZE, chunk=4)


def test_a_mark_alone_is_no_speech(speaker: Speaker) -> None:
    speaker.say([ONE, *[QUIET] * 7, STOP, QUIET, QUIET, QUIET])
    assert speaker.finals[0].text == "一"
    assert speaker.stream.silent


def test_the_words_after_it_begin_without_it(speaker: Speaker) -> None:
    speaker.say([ONE, *[QUIET] * 7, STOP, QUIET, TWO, QUIET]).flush()
    assert [each.text for each in speaker.finals] == ["一", "二"]
    assert speaker.finals[1].frames == (10,)
