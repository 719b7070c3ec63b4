"""Streams that go on, by searches over a CTC head: endpoints cut what is said, and lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from break_once import break_once
from hypothesis import given
from hypothesis import strategies as st
from speaker import ENDLESS, QUICK, Script, Speaker, Told, step
from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import OutputNotFinite
from earshot.streaming.search.ctc_decoder import CtcDecoder
from earshot.streaming.search.ctc_searches import build_searches
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import StreamConfig

BLANK, FIRST, SIZE = 0, 3, 12
DIGITS = "一二三四五六七八九"
SEARCHES = ("greedy", "prefix")

Make = Callable[..., CtcDecoder]


class Head:
    """A CTC head without a network: encoder frames are logits already."""

    blank_id = BLANK
    phone_rate = 1

    def __init__(self) -> None:
        self.frames = 0

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        self.frames += encoded[..., 0].numel()
        return encoded.log_softmax(-1)


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


@pytest.fixture(scope="module")
def make(tone_model: LoadedModel) -> Make:
    """Makes decoders of two streams."""

    def make(network: Head | None = None) -> CtcDecoder:
        head = network or Head()
        searches = build_searches(
            head,
            tone_model.tokenizer,
            None,
            EngineConfig(max_streams=2, threads=1),
            vocab_size=SIZE,
            max_segment_frames=100,
            device=torch.device("cpu"),
        )
        return CtcDecoder(head, SearchSet(searches), 4)

    return make


def spikes(text: str, sure: float = 20.0) -> Script:
    """A frame for each letter; all that is no digit is blank."""
    units = [FIRST + DIGITS.index(each) if each in DIGITS else BLANK for each in text]
    return [[sure * (unit == place) for place in range(SIZE)] for unit in units]


def speaker_of(decoder: CtcDecoder, search: str, **options: Any) -> Speaker:
    return Speaker(decoder, SIZE, search=search, **options)


def heard(decoder: CtcDecoder, search: str, text: str, **options: Any) -> list[Told]:
    return speaker_of(decoder, search, **options).say(spikes(text)).flush().finals


def texts(finals: list[Told]) -> list[tuple[str, str]]:
    return [(each.cause, each.text) for each in finals]


@pytest.mark.parametrize("search", SEARCHES)
def test_what_is_said_behind_an_endpoint_is_the_next_segments(make: Make, search: str) -> None:
    finals = heard(make(), search, "一...二.二...三", chunk=20)
    assert texts(finals) == [("endpoint", "一"), ("endpoint", "二二"), ("finalize", "三")]
    assert [each.frames for each in finals] == [(0,), (4, 6), (10,)]


@pytest.mark.parametrize("search", SEARCHES)
def test_an_utterance_that_grows_too_long_is_cut_between_words(make: Make, search: str) -> None:
    finals = heard(make(), search, "一.二.三.四.五.六.七..八.九.一.二.三")
    assert texts(finals) == [("max_utterance", "一二三四五六七"), ("finalize", "八九一二三")]


@pytest.mark.parametrize("search", SEARCHES)
def test_a_slot_that_is_freed_is_as_new(make: Make, search: str) -> None:
    decoder = make()
    speaker = speaker_of(decoder, search).say(spikes("一.二.三.四."))
    assert speaker.decoder.best([speaker.stream])[0].hypothesis.text == "一二三四"
    decoder.free(speaker.stream)
    assert texts(heard(decoder, search, "五")) == [("finalize", "五")]


def test_a_final_has_as_many_hypotheses_as_are_asked_for(make: Make) -> None:
    many = StreamConfig(alternatives=9)
    for config, count in ((QUICK, 4), (many, 9)):
        speaker = speaker_of(make(), "prefix", config=config)
        speaker.say(spikes("一.二.三.四.", sure=1.0))
        assert len(speaker.decoder.nbest(speaker.stream, ended=True)) == count


def test_a_stream_may_change_its_search_in_the_midst_of_a_segment(make: Make) -> None:
    decoder = make()
    speaker = speaker_of(decoder, "prefix", config=ENDLESS).say(spikes("一.二.三.四."))
    boosts = decoder.compile("greedy", [], QUICK)
    assert decoder.configure(speaker.stream, QUICK, "greedy", boosts) == ()
    assert texts(speaker.say(spikes("五")).flush().finals) == [("finalize", "一二三四五")]


def test_frames_that_are_no_numbers_fail_the_step(make: Make) -> None:
    script = spikes("一.二.三.四.")
    script[3][5] = float("nan")
    with pytest.raises(OutputNotFinite):
        speaker_of(make(), "greedy").say(script)


def test_the_head_hears_each_frame_once_over_endpoints(make: Make) -> None:
    head = Head()
    heard(make(head), "greedy", "一...二...三.......", chunk=8)
    assert head.frames == 16


words = st.sampled_from([f"{digit}." for digit in DIGITS[:4]])
pauses = st.sampled_from([".", "..", "...", "." * 12])
spoken = st.lists(words | pauses, min_size=1, max_size=25).map("".join)


@given(spoken, st.integers(1, 30), st.sampled_from(SEARCHES))
def test_endpoints_lose_no_word_and_tell_none_twice(
    make: Make, text: str, chunk: int, search: str
) -> None:
    finals = heard(make(), search, text, chunk=chunk)
    assert "".join(each.text for each in finals) == text.replace(".", "")
    frames = [at for each in finals for at in each.frames]
    assert frames == [at for at, letter in enumerate(text) if letter != "."]


@given(spoken, st.integers(1, 30), st.sampled_from(SEARCHES))
def test_segments_end_where_they_do_frame_by_frame(
    make: Make, text: str, chunk: int, search: str
) -> None:
    told = [
        [(each.cause, each.frames) for each in heard(make(), search, text, chunk=size)]
        for size in (chunk, 1)
    ]
    assert told[0] == told[1]


LONG = "一.二...三.四.五...二." + "二.三." * 9 + "..四....." + "." * 12 + "五.六...七"
OTHER = "七.八...九....." * 4


def both(decoder: CtcDecoder, search: str) -> list[list[Told]]:
    """What two streams tell that share their steps."""
    speakers = [speaker_of(decoder, search, slot=slot) for slot in range(2)]
    for speaker, text in zip(speakers, (LONG, OTHER), strict=True):
        speaker.hear(spikes(text))
    while ready := [each for each in speakers if each.stream.next_cut() is not None]:
        step(ready)
    return [each.flush().finals for each in speakers]


@pytest.mark.parametrize("search", SEARCHES)
def test_streams_in_company_tell_what_they_do_alone(make: Make, search: str) -> None:
    alone = [heard(make(), search, text) for text in (LONG, OTHER)]
    assert {each.cause for each in alone[0]} == {"endpoint", "max_utterance", "finalize"}
    assert both(make(), search) == alone


@pytest.mark.parametrize("after", [False, True], ids=["before the work", "after it"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        *[(Lane, "observe", at) for at in (1, 2, 3, 8, 20)],
        *[(CtcDecoder, "_outputs", at) for at in (1, 2, 7)],
        *[(CtcDecoder, "decode", at) for at in (1, 2, 8)],
        *[(CtcDecoder, "nbest", at) for at in range(1, 10)],
        (CtcDecoder, "boundary", 1),
        *[(CtcDecoder, "rest", at) for at in range(1, 10)],
        (CtcDecoder, "truncate", 1),
        *[(CtcDecoder, "restart", at) for at in (1, 2, 8)],
        *[(SearchSet, "advance", at) for at in (1, 2, 3, 8)],
    ],
)
def test_a_failure_half_way_changes_nothing(
    make: Make,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    at: int,
    search: str,
    after: bool,
) -> None:
    expected = both(make(), search)
    calls = break_once(monkeypatch, owner, name, at, after=after)
    assert both(make(), search) == expected
    assert len(calls) >= at
