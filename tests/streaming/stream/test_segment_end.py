"""Where a segment ends, and how a stream that goes on is divided there."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
import torch

from earshot.streaming.requests import FINALIZE, FINISH, Flush
from earshot.streaming.stream.chunking import Chunking, Cut
from earshot.streaming.stream.endpoint import Endpoint, EndpointRule
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.rest import Rest
from earshot.streaming.stream.segment_end import divided_ending, ending_of

REST = Rest(torch.zeros(3, 1))
SETTINGS = SimpleNamespace(chunking=Chunking(8, 1, 0, 10.0))


def lane_of(
    rule: EndpointRule | None = None, flush: Flush | None = None, *, last: bool = False
) -> Lane:
    """One whose segment has 20 frames, at the last of which an endpoint may be."""
    stream = SimpleNamespace(segment=SimpleNamespace(frames=20), flush=flush, settings=SETTINGS)
    endpoint = None if rule is None else Endpoint(rule, 20, 10)
    return Lane(stream, Cut(8, 8, last), endpoint=endpoint)


def never(frames: int) -> None:
    """What is not to be asked."""
    raise AssertionError(f"the segment is shortened to {frames}")


@dataclass
class Noted:
    """A decoder that notes what it is asked, in order. fails: calls of its that are to fail."""

    cut: int = 12
    fails: list[str] = field(default_factory=list)
    asked: list[tuple[str, object]] = field(default_factory=list)

    def nbest(self, stream, *, ended):
        return self._note("nbest", ended, [ended])

    def boundary(self, stream, endpoint):
        return self._note("boundary", endpoint, self.cut)

    def rest(self, lane, boundary):
        assert lane.stream.segment.frames == 20, "it is asked for before the segment is shorter"
        return self._note("rest", boundary, REST)

    def truncate(self, stream, frames):
        stream.segment.frames = frames
        self._note("truncate", frames, None)

    def _note(self, name, argument, answer):
        self.asked.append((name, argument))
        if name in self.fails:
            self.fails.remove(name)
            raise RuntimeError(name)
        return answer


@pytest.mark.parametrize("rule", ["silence", "no_speech", "turn_end"])
def test_a_stream_that_goes_on_is_divided_where_a_rule_fires(rule: EndpointRule) -> None:
    lane, decoder = lane_of(rule), Noted()
    ending = divided_ending(lane, decoder)
    assert (ending.stream, ending.cause, ending.boundary) == (lane.stream, "endpoint", 20)
    assert (ending.hypotheses, ending.rest) == ([True], REST)
    assert decoder.asked == [("rest", 20), ("nbest", True)]


def test_one_that_grew_too_long_is_divided_between_words() -> None:
    lane, decoder = lane_of("max_utterance"), Noted()
    ending = divided_ending(lane, decoder)
    assert (ending.cause, ending.boundary, ending.rest) == ("max_utterance", 12, REST)
    assert ending.hypotheses == [False]
    asked = [("boundary", lane.endpoint), ("rest", 12), ("truncate", 12), ("nbest", False)]
    assert decoder.asked == asked


def test_one_without_a_gap_is_divided_where_it_is() -> None:
    lane, decoder = lane_of("max_utterance"), Noted(cut=20)
    assert divided_ending(lane, decoder).boundary == 20
    assert "truncate" not in dict(decoder.asked)


@pytest.mark.parametrize("name", ["boundary", "rest", "truncate", "nbest"])
def test_one_whose_division_failed_half_way_is_divided_at_the_same_place(name: str) -> None:
    lane, decoder = lane_of("max_utterance"), Noted(fails=[name])
    with pytest.raises(RuntimeError, match=name):
        divided_ending(lane, decoder)
    decoder.cut = 12 if lane.division is None else 6  # of what is left of it
    ending = divided_ending(lane, decoder)
    assert (ending.boundary, ending.rest, lane.stream.segment.frames) == (12, REST, 12)


@pytest.mark.parametrize("name", ["truncate", "nbest"])
def test_a_segment_is_cut_once_though_a_step_behind_it_fails(name: str) -> None:
    lane, decoder, cuts = lane_of("max_utterance"), Noted(fails=[name]), [12, 6]

    def ending():
        return ending_of(
            lane,
            lambda ended: decoder.nbest(lane.stream, ended=ended),
            lambda endpoint: cuts.pop(0),
            lambda frames: decoder.truncate(lane.stream, frames),
        )

    with pytest.raises(RuntimeError, match=name):
        ending()
    assert (ending().boundary, cuts, lane.stream.segment.frames) == (12, [6], 12)


def test_a_segment_without_a_gap_is_not_shortened() -> None:
    ending = ending_of(lane_of("max_utterance"), lambda ended: [ended], lambda endpoint: 20, never)
    assert (ending.cause, ending.boundary) == ("max_utterance", 20)


def ends_of(lane: Lane):
    """By either way to end."""
    decoder = Noted()
    return [
        divided_ending(lane, decoder),
        ending_of(lane, lambda ended: [ended], lambda endpoint: 12, never),
    ]


@pytest.mark.parametrize("flush", [FINALIZE, FINISH])
def test_the_last_chunk_of_a_flush_ends_the_segment(flush: Flush) -> None:
    for ending in ends_of(lane_of(flush=flush, last=True)):
        assert (ending.cause, ending.boundary, ending.rest) == (flush.cause, None, None)
        assert ending.hypotheses == [True]


def test_a_chunk_before_the_last_and_one_without_a_flush_end_nothing() -> None:
    assert ends_of(lane_of(flush=FINISH)) == [None, None]
    assert ends_of(lane_of()) == [None, None]


def test_an_endpoint_in_the_last_chunk_of_a_flush_leaves_the_rest_to_the_next() -> None:
    ending = divided_ending(lane_of("silence", FINISH, last=True), Noted())
    assert (ending.cause, ending.boundary, ending.rest) == ("endpoint", 20, REST)


def test_a_segment_that_is_heard_again_ends_in_the_middle_of_its_pause() -> None:
    ending = ending_of(lane_of("silence"), lambda ended: [ended], lambda endpoint: 12, never)
    assert (ending.cause, ending.boundary, ending.hypotheses) == ("endpoint", 15, [True])
