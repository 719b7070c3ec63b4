"""A stream decoded by hand, which another hand takes up just behind any of its finals."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

import torch

from earshot.streaming.boosting.boosting import NO_BOOSTS, CompiledBoosts
from earshot.streaming.engine.pulse import unheard
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.events import Alternative
from earshot.streaming.requests import FINISH, Flush
from earshot.streaming.results.results import alternative, first_pass_scores
from earshot.streaming.samples import Samples
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.replay import ReplayPoint
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig, StreamPriority

QUICK = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
PLAIN = StreamConfig(endpoint=QUICK)


@dataclass(frozen=True)
class Said:
    """What was told of a segment. partials: with the number of stable words."""

    partials: list[tuple[int, Alternative]]
    final: list[Alternative]

    @property
    def words(self) -> list[tuple[str, float, float]]:
        """Of the best, with their times in seconds."""
        return [(word.text, word.start_s, word.end_s) for word in self.final[0].words]


@dataclass
class Hand:
    """One stream decoded step by step by hand.

    told: of each segment its partials and its final, and the point behind it.
    """

    recognizer: Recognizer
    slot: int = 0
    mode: str | None = None
    boosts: tuple[Boost, ...] = ()
    config: StreamConfig = PLAIN
    told: list[tuple[Said, ReplayPoint]] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = replace(self.config, mode=self.mode, boosts=self.boosts)
        boosts: Future[CompiledBoosts] = Future()
        self._partials: list[tuple[int, Alternative]] = []
        self.stream = ActiveStream(
            self.slot,
            config,
            self.recognizer.rules.choose_search(config),
            StreamPriority.LIVE,
            lambda event: None,
            Inbox(10**9),
            boosts,
            self.recognizer.settings,
        )
        compiled = self.recognizer.compile(self.boosts, config) if self.boosts else NO_BOOSTS
        self.recognizer.configure(self.stream, config, compiled)

    @torch.inference_mode()
    def hear(self, samples: Samples, flush: Flush = FINISH) -> None:
        """Decode samples and a flush."""
        self.stream.listen(samples)
        self.stream.begin_flush(flush)
        while self.stream.flush is not None:
            self._step()

    def _step(self) -> None:
        lane = Lane(self.stream, self.stream.begin_step(0.0))
        self.recognizer.encode([lane])
        self.recognizer.decode([lane])
        if lane.ending is None:
            self._partials.append(self._partial())
            return
        self.recognizer.finish([lane.ending], unheard)
        clock = self.stream.clock
        said = [alternative(each, clock) for each in lane.ending.scored]
        self.recognizer.restart([lane.ending])
        point = self.recognizer.replay_point(self.stream)
        self.told.append((Said(self._partials, said), point))
        self._partials = []

    def _partial(self) -> tuple[int, Alternative]:
        """The stable words so far, and all that is told of each word."""
        [best] = self.recognizer.best([self.stream])
        scored = first_pass_scores(best.hypothesis)
        return best.stable_words, alternative(scored, self.stream.clock)


def replayed(hand: Hand, point: ReplayPoint, samples: Samples) -> list[Said]:
    """What another hand tells from a point on."""
    hand.recognizer.resume(hand.stream, pickle.loads(pickle.dumps(point)))
    hand.hear(samples[point.sample :])
    return [said for said, _ in hand.told]


def assert_every_final_is_a_place_to_go_on(make: Callable[[int], Hand], samples: Samples) -> None:
    """The very same is told, to the bit, by one who takes the stream up there."""
    whole = make(0)
    whole.hear(samples)
    finals = [said for said, _ in whole.told]
    assert len(finals) > 2
    for place, (_, point) in enumerate(whole.told[:-1]):
        again = make(1)
        assert replayed(again, point, samples) == finals[place + 1 :]
        again.recognizer.free(again.stream)
    whole.recognizer.free(whole.stream)
