"""A full stop that comes with the silence after its utterance: nobody begins to speak with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from scripted_transducer import QUIET, SIZE, UNITS, ScriptTokenizer, frame, scripted_transducer
from speaker import QUICK, Speaker

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.stream_config import EndpointConfig, StreamConfig
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

ONE, TWO, STOP = frame(0), frame(1), frame(2)


class UnknownTokenizer(ScriptTokenizer):
    """The third unit is what somebody has said that has no letters here."""

    def __init__(self) -> None:
        symbols = (*UNITS[:2], "<unk>", *UNITS[3:])
        Tokenizer.__init__(self, UnitTable.of(symbols, "script"), special=("<unk>", UNITS[-1]))


class MarkTokenizer(ScriptTokenizer):
    """The third unit is a full stop."""

    def __init__(self) -> None:
        symbols = (*UNITS[:2], "。", *UNITS[3:])
        Tokenizer.__init__(self, UnitTable.of(symbols, "script"), special=UNITS[-1:])


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def speaker_of(tokenizer: ScriptTokenizer, config: StreamConfig = QUICK) -> Speaker:
    loop = label_loop_of(scripted_transducer(), 1)
    return Speaker(TransducerDecoder(loop, tokenizer, 1), SIZE, config, chunk=4)


@pytest.fixture
def speaker() -> Speaker:
    return speaker_of(MarkTokenizer())


def test_what_has_no_letters_is_speech() -> None:
    unknown = frame(2)
    finals = speaker_of(UnknownTokenizer()).say([unknown, *[QUIET] * 3, ONE]).flush().finals
    assert [(each.cause, each.text) for each in finals] == [("endpoint", ""), ("finalize", "一")]


def test_a_mark_alone_is_no_speech(speaker: Speaker) -> None:
    speaker.say([ONE, *[QUIET] * 7, STOP, QUIET, QUIET, QUIET])
    assert speaker.finals[0].text == "一"
    assert speaker.stream.silent


def test_the_words_after_it_begin_without_it(speaker: Speaker) -> None:
    speaker.say([ONE, *[QUIET] * 7, STOP, QUIET, TWO, QUIET]).flush()
    assert [each.text for each in speaker.finals] == ["一", "二"]
    assert speaker.finals[1].frames == (10,)


class LetterTokenizer(ScriptTokenizer):
    """Letters and spaces; the third unit is a full stop, which is part of the word before it."""

    def __init__(self) -> None:
        symbols = ("a", "b", ".", "\u2581", UNITS[-1])
        Tokenizer.__init__(self, UnitTable.of(symbols, "script"), special=UNITS[-1:])


def test_a_cut_divides_no_mark_from_its_word() -> None:
    """The widest gap is one behind a mark: that its times are put back to its word is for later."""
    unpausing = EndpointConfig(silence_ms=None, no_speech_ms=10**6, max_utterance_ms=2000)
    speaker = speaker_of(LetterTokenizer(), StreamConfig(endpoint=unpausing))
    space = frame(3)
    script = [*[TWO, space] * 4, TWO, *[QUIET] * 4, STOP, QUIET, *[space, ONE] * 4]
    speaker.say(script).flush()
    assert [each.text for each in speaker.finals] == ["b b b b b.", "a a a a"]
