"""Boosts that change while a stream goes on, at any step, also while a rest is to come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pytest
import torch
from boost_walk import BoostWalk
from hypothesis import given
from hypothesis import strategies as st
from network_head import NetworkHead
from oracles import Spoken, begin, frame_looping
from scripted_transducer import (
    ECHO,
    QUIET,
    SIZE,
    UNITS,
    ScriptTokenizer,
    frame,
    frames_of,
    scripted_transducer,
    torn,
)
from speaker import QUICK, Script, Speaker, step

from earshot.decoder_kernels.boosting.boost import BoostTable
from earshot.streaming.stream_config import Boost
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


@dataclass(frozen=True)
class Stage:
    """What is boosted and said, and how many steps are done then; others' chunks may come first."""

    boosts: tuple[Boost, ...]
    script: Script
    steps: int


frames = st.sampled_from([frame(0), frame(2), frame(3, 4), torn(0, 1), torn(2, 0), QUIET, ECHO])
stretches = st.builds(lambda each, count: [each] * count, frames, st.sampled_from([1, 1, 2, 4]))
asked = st.sampled_from(
    [(), (Boost("三二", 0.6),), (Boost("二", 2.0),), (Boost("四二", 0.6), Boost("三一", 0.9))]
)
scripts = st.lists(stretches, max_size=5).map(lambda found: list(chain(*found)))
stages = st.lists(st.builds(Stage, asked, scripts, st.integers(0, 4)), min_size=1, max_size=6)


class Plain:
    """The same stream by the plain loop, which has no endpoints."""

    def __init__(self, script: Script, max_symbols: int) -> None:
        self._network = scripted_transducer(max_symbols)
        self._head, self._cap = NetworkHead(self._network), max_symbols
        self._heard = self._network.hear(frames_of(script))
        self._table: BoostTable | None = None
        self._spoken: Spoken = begin(self._head)
        self.labels: list[tuple[int, int]] = []

    def walk(self, until: int, table: BoostTable | None) -> None:
        """Up to a frame; where other phrases are boosted than before, none is under way."""
        heard = self._heard[self._spoken.frames : until]
        if not len(heard):
            return
        before = self._spoken
        if fingerprint(table) != fingerprint(self._table):
            before = replace(before, boost_state=0)
        found, self._spoken = frame_looping(self._head, heard, self._cap, before, BoostWalk(table))
        self.labels += zip(found.frames, found.tokens, strict=True)
        self._table = table


def fingerprint(table: BoostTable | None) -> int | None:
    return table and table.fingerprint


def configured(speaker: Speaker, boosts: Sequence[Boost]) -> BoostTable | None:
    """The boosts' table, which the stream has from now on."""
    compiled = speaker.decoder.compile("transducer", boosts, QUICK)
    speaker.decoder.configure(speaker.stream, QUICK, "transducer", compiled)
    assert compiled.table is None or isinstance(compiled.table, BoostTable)
    return compiled.table


def steps(speaker: Speaker, count: int) -> None:
    for _ in range(count):
        if speaker.stream.next_cut() is not None:
            step([speaker])


@given(stages, st.integers(1, 12), st.integers(1, 2))
def test_what_is_walked_over_has_the_boosts_of_its_time(
    told: list[Stage], chunk: int, max_symbols: int
) -> None:
    plain = Plain([each for stage in told for each in stage.script], max_symbols)
    loop = label_loop_of(scripted_transducer(max_symbols), 1, boost_capacity=100)
    speaker = Speaker(TransducerDecoder(loop, ScriptTokenizer(), 1), SIZE, chunk=chunk)
    table = None
    for stage in told:
        table = configured(speaker, stage.boosts)
        speaker.hear(stage.script)
        steps(speaker, stage.steps)
        plain.walk(speaker.stream.window_start, table)
    finals = speaker.flush().finals
    plain.walk(len(plain._heard), table)
    found = [label for each in finals for label in zip(each.frames, each.text, strict=True)]
    assert found == [(at, UNITS[token]) for at, token in plain.labels]
