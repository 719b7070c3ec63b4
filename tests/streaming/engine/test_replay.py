"""A stream taken up by another engine just behind a final hears what the first would have."""

from __future__ import annotations

import pickle
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

import pytest
import torch
from knock_recognizer import KnockRecognizer, loaded_knocks, sound
from nemo_golden import GoldenReader
from random_nemo import SYMBOLS, babble, random_nemo

from earshot.decoder_kernels.transducer.label_loop import LoopMemory
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.engine.pulse import unheard
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.requests import FINALIZE, FINISH
from earshot.streaming.results.results import alternative
from earshot.streaming.samples import Samples
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream.replay import ReplayPoint
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig, StreamPriority

CONFIG = EngineConfig(max_streams=3, threads=1)
QUICK = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)


@dataclass
class Hand:
    """One stream decoded step by step by hand. told: each final, and the point behind it."""

    recognizer: Recognizer
    slot: int = 0
    mode: str | None = None
    boosts: tuple[Boost, ...] = ()
    told: list[tuple[object, ReplayPoint]] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = StreamConfig(mode=self.mode, endpoint=QUICK, boosts=self.boosts)
        boosts: Future = Future()
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
    def hear(self, samples: Samples, flush=FINISH) -> None:
        self.stream.listen(samples)
        self.stream.begin_flush(flush)
        while self.stream.flush is not None:
            self._step()

    def _step(self) -> None:
        lane = Lane(self.stream, self.stream.begin_step(0.0))
        self.recognizer.encode([lane])
        self.recognizer.decode([lane])
        if lane.ending is None:
            return
        self.recognizer.finish([lane.ending], unheard)
        clock = self.stream.clock
        said = [alternative(each, clock) for each in lane.ending.scored]
        self.recognizer.restart([lane.ending])
        self.told.append((said, self.recognizer.replay_point(self.stream)))


def replayed(hand: Hand, point: ReplayPoint, samples: Samples) -> list[object]:
    """What another hand tells from a point on."""
    hand.recognizer.resume(hand.stream, pickle.loads(pickle.dumps(point)))
    hand.hear(samples[point.sample :])
    return [said for said, _ in hand.told]


def assert_every_final_is_a_place_to_go_on(make, samples: Samples) -> None:
    whole = make(slot=0)
    whole.hear(samples)
    finals = [said for said, _ in whole.told]
    assert len(finals) > 2
    for place, (_, point) in enumerate(whole.told[:-1]):
        assert replayed(make(slot=1), point, samples) == finals[place + 1 :]


@pytest.mark.parametrize("context", [None, 1, 2], ids=["default", "80 ms", "160 ms"])
def test_a_transducer_goes_on_from_what_it_remembers(
    nemo_golden: GoldenReader, context: int | None
) -> None:
    golden = nemo_golden("rnnt_streaming")
    recognizer = build_recognizer(
        golden.loaded, EngineConfig(max_streams=3, threads=1, chunk_size=context)
    )
    samples = torch.cat(golden.audio[1:3]).numpy()
    assert_every_final_is_a_place_to_go_on(lambda slot: Hand(recognizer, slot), samples)


PHRASES = tuple(Boost(one + other, 2.0) for one in SYMBOLS[:9] for other in SYMBOLS[:9])


@pytest.mark.parametrize("kind", ["chunks, rnnt", "windows, tdt"])
def test_a_transducer_goes_on_with_a_phrase_half_said(kind: str) -> None:
    recognizer = build_recognizer(random_nemo(kind), CONFIG)
    samples = babble(8.0, 3, pause_s=0.4)
    make = partial(Hand, recognizer, boosts=PHRASES)
    whole, plain = make(slot=0), Hand(recognizer, 2)
    whole.hear(samples)
    plain.hear(samples)
    assert [said for said, _ in whole.told] != [said for said, _ in plain.told]
    assert any(decoded_of(point).boost_state for _, point in whole.told)
    assert_every_final_is_a_place_to_go_on(make, samples)


def decoded_of(point: ReplayPoint) -> LoopMemory:
    """What the decoder remembers."""
    assert isinstance(point.memory, tuple)
    _, decoded = point.memory
    assert isinstance(decoded, LoopMemory)
    return decoded


@pytest.mark.parametrize("mode", ["transducer_greedy_search", "ctc_greedy_search"])
def test_windows_go_on_from_the_features_before_them(nemo_golden: GoldenReader, mode: str) -> None:
    golden = nemo_golden("hybrid_tdt_ctc")
    recognizer = build_recognizer(golden.loaded, CONFIG)
    samples = torch.cat(golden.audio[:3]).numpy()
    assert_every_final_is_a_place_to_go_on(lambda slot: Hand(recognizer, slot, mode), samples)


def test_u2_goes_on_from_the_seam(tone_model, sounds) -> None:
    recognizer = build_recognizer(tone_model, CONFIG)
    samples = sounds.speech("一二 三四五 六_七八 九")
    assert_every_final_is_a_place_to_go_on(lambda slot: Hand(recognizer, slot), samples)


def test_a_toy_goes_on_from_the_seam() -> None:
    recognizer = KnockRecognizer(loaded_knocks(), CONFIG)
    samples = sound(0.3, 0.2, 0.9, 0.2, 0.21, 0.6, 0.2, 1.0)
    assert_every_final_is_a_place_to_go_on(lambda slot: Hand(recognizer, slot), samples)


def test_behind_a_flush_there_is_nothing_to_remember(nemo_golden: GoldenReader) -> None:
    golden = nemo_golden("rnnt_streaming")
    recognizer = build_recognizer(golden.loaded, CONFIG)
    hand, clip = Hand(recognizer), golden.audio[1].numpy()
    hand.hear(clip, FINALIZE)
    _, point = hand.told[-1]
    assert point.sample == len(clip)
    hand.hear(clip)
    again = Hand(recognizer, 1)
    again.hear(clip)
    texts = [[each.text for each in said] for said, _ in hand.told]
    assert texts[len(texts) // 2 :] == [[each.text for each in said] for said, _ in again.told]


def test_an_utterance_that_was_told_to_begin_is_not_told_again(tone_model, sounds) -> None:
    recognizer = build_recognizer(tone_model, CONFIG)
    hand, samples = Hand(recognizer), sounds.speech("一二三四五六七八九" * 2)
    hand.hear(samples)
    hand.stream.utterance.speaking, hand.stream.utterance.last_word_end_s = True, 1.5
    point, other = recognizer.replay_point(hand.stream), Hand(recognizer, 1)
    hand.stream.utterance.speaking = False
    recognizer.resume(other.stream, point)
    assert (other.stream.utterance.speaking, other.stream.utterance.last_word_end_s) == (True, 1.5)


def test_a_seam_is_pickled_without_the_features_behind_it(tone_model, sounds) -> None:
    hand = Hand(build_recognizer(tone_model, CONFIG))
    hand.hear(sounds.speech("一二 三四五 六"))
    assert all(len(pickle.dumps(point)) < 2000 for _, point in hand.told)
