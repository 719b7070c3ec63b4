"""The step that asks, where streams pause, after how much of the pause their segments end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from earshot.models.errors import ShapeMismatch
from earshot.models.turns.turn_head import FRAMES_BEFORE, TurnHead, stretches_of
from earshot.models.turns.turn_rule import TurnRule
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.part import EndScorer
from earshot.streaming.parts.turns import TURNS
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.endpoint import LikelyEnd
from earshot.streaming.stream.lane import Lane

LEAST_ASKED_MS = 200
"""Silence in which a text is looked at: shorter ones are between most words."""


class TurnStep:
    """Tells the endpoint rules of lanes that pause how long the pause has to be.

    scorer: how likely texts end. head: how likely by their sound; None: nobody hears it.
    """

    def __init__(self, scorer: EndScorer, head: TurnHead | None = None) -> None:
        self._scorer, self._head = scorer, head
        self._rule = TurnRule() if head is None else head.rule

    def __call__(
        self, lanes: Sequence[Lane], best: Callable[[Sequence[ActiveStream]], Sequence[Best]]
    ) -> None:
        """Once in each pause, after the search; ends segments whose pause has been long enough.

        best: what segments say so far.
        """
        pausing = [lane for lane in lanes if _is_open(lane)]
        if not pausing:
            return
        found = best([lane.stream for lane in pausing])
        texts = [[word.text for word in each.hypothesis.words] for each in found]
        asking = [(lane, text) for lane, text in zip(pausing, texts, strict=True) if text]
        if not asking:
            return
        ends = self._scorer([text for _, text in asking])
        sounds = self._sounds([lane.stream for lane, _ in asking])
        for (lane, _), end, sound in zip(asking, ends, sounds, strict=True):
            self._tell(lane, end, sound)

    def _sounds(self, streams: Sequence[ActiveStream]) -> Sequence[float]:
        if self._head is None:
            return [0.0] * len(streams)
        return self._head.sounds(torch.stack([pause_stretches(each) for each in streams]))

    def _tell(self, lane: Lane, end_log_prob: float, sound: float) -> None:
        stream = lane.stream
        turn = stream.config.endpoint.turn
        assert turn is not None
        rule, eager = self._rule, turn.eager_confidence
        pause_ms = rule.pause_ms(end_log_prob, turn.confidence, sound)
        likely_end = LikelyEnd(
            partial(rule.confidence, end_log_prob, sound=sound),
            math.inf if eager is None else rule.pause_ms(end_log_prob, eager, sound),
        )
        lane.endpoint = stream.segment.detector.expect(max(pause_ms, turn.least_ms), likely_end)


def pause_stretches(stream: ActiveStream) -> Tensor:
    """The stretches `(S, D)` that a head hears of the pause that a stream is in."""
    silent = stream.segment.detector.blank_run
    return stretches_of(stream.segment.latest(FRAMES_BEFORE + silent), silent)


def _is_open(lane: Lane) -> bool:
    """Whether its segment pauses, and nobody has said yet for how long it may."""
    stream, detector = lane.stream, lane.stream.segment.detector
    if stream.config.endpoint.turn is None or lane.endpoint is not None or lane.in_padding:
        return False
    return lane.observed and detector.asks and has_paused(stream)


def has_paused(stream: ActiveStream) -> bool:
    """Whether its silence is long enough to be asked about."""
    pause_ms = stream.segment.detector.blank_run * stream.settings.chunking.frame_ms
    return pause_ms >= LEAST_ASKED_MS


def turn_step(parts: ModelParts, width: int) -> TurnStep | None:
    """That of a model with a part that knows how texts end.

    width: of the encoder's frames. Raises ShapeMismatch for a head that hears others.
    """
    scorer, head = parts.end_scorer(), parts.get(TURNS)
    if head is not None and head.width != width:
        raise ShapeMismatch(f"the {TURNS.title} hears frames of {head.width} numbers, not {width}")
    return None if scorer is None else TurnStep(scorer, head)
