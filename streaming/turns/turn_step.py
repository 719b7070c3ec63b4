"""The step that asks, where streams pause, after how much of the pause their segments end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.part import EndScorer
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.lane import Lane
from earshot.streaming.turns.turn_rule import TurnRule

LEAST_ASKED_MS = 200
"""Silence in which a text is looked at: shorter ones are between most words."""


class TurnStep:
    """Tells the endpoint rules of lanes that pause how long the pause has to be."""

    def __init__(self, scorer: EndScorer, rule: TurnRule | None = None) -> None:
        self._scorer = scorer
        self._rule = rule or TurnRule()

    def __call__(
        self, lanes: Sequence[Lane], best: Callable[[Sequence[ActiveStream]], Sequence[Best]]
    ) -> None:
        """Once in each pause, after the search; ends segments whose pause has been long enough.

        best: what segments say so far.
        """
        asking = [lane for lane in lanes if _is_open(lane)]
        if not asking:
            return
        found = best([lane.stream for lane in asking])
        texts = [[word.text for word in each.hypothesis.words] for each in found]
        said = [place for place, text in enumerate(texts) if text]
        ends = self._scorer([texts[place] for place in said])
        for place, end in zip(said, ends, strict=True):
            self._tell(asking[place], end)

    def _tell(self, lane: Lane, end_log_prob: float) -> None:
        stream = lane.stream
        turn = stream.config.endpoint.turn
        assert turn is not None
        pause_ms = self._rule.pause_ms(end_log_prob, turn.confidence)
        lane.endpoint = stream.segment.detector.expect(max(pause_ms, turn.least_ms))


def _is_open(lane: Lane) -> bool:
    """Whether its segment pauses, and nobody has said yet for how long it may."""
    stream, detector = lane.stream, lane.stream.segment.detector
    if stream.config.endpoint.turn is None or lane.endpoint is not None or lane.in_padding:
        return False
    pause_ms = detector.blank_run * stream.settings.chunking.frame_ms
    return lane.observed and detector.asks and pause_ms >= LEAST_ASKED_MS


def turn_step(parts: ModelParts) -> TurnStep | None:
    """That of a model with a part that knows how texts end."""
    scorer = parts.end_scorer()
    return None if scorer is None else TurnStep(scorer)
