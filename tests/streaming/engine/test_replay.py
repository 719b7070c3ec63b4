"""A stream taken up by another engine just behind a final hears what the first would have."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial

import pytest
import torch
from hand import QUICK, Hand, assert_every_final_is_a_place_to_go_on, replayed
from knock_recognizer import KnockRecognizer, loaded_knocks, sound
from nemo_golden import GoldenReader
from random_nemo import SYMBOLS, babble, random_nemo

from earshot.decoder_kernels.transducer.label_loop import LoopMemory
from earshot.language.marks.tagger_network import TaggerConfig, TaggerNetwork
from earshot.language.marks.word_numbers import WordNumbers
from earshot.language.marks.word_tagger import WordTagger
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.requests import FINALIZE
from earshot.streaming.stream.replay import ReplayPoint
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig

CONFIG = EngineConfig(max_streams=3, threads=1)
ON_THE_HOST = replace(CONFIG, options={"transducer_loop": "cpu"})
CTC = ("ctc_greedy", "ctc_prefix_beam")


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


HEADS = [
    (kind, f"{head}_search")
    for kind, heads in {
        "chunks, rnnt": ("transducer_greedy", "transducer_beam"),
        "chunks, tdt and ctc": ("transducer_greedy", "transducer_beam", *CTC),
        "windows, rnnt and ctc": ("transducer_greedy", "transducer_beam", *CTC),
    }.items()
    for head in heads
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("kind", "mode"), HEADS)
def test_every_head_goes_on_from_any_cut(kind: str, mode: str, seed: int) -> None:
    drawn = random.Random(f"{kind} {mode} {seed}")
    silence_ms, longest_ms = drawn.choice([200, 300, None]), drawn.randrange(2000, 3500, 10)
    endpoint = EndpointConfig(silence_ms, no_speech_ms=1000, max_utterance_ms=longest_ms)
    boosts = drawn.sample(PHRASES, 30) if "transducer" in mode and drawn.random() < 0.5 else ()
    recognizer = build_recognizer(random_nemo(kind), CONFIG)
    chunk_ms = drawn.choice([None, *recognizer.settings.chunks_ms])
    config = StreamConfig(endpoint=endpoint, chunk_ms=chunk_ms)
    make = partial(Hand, recognizer, mode=mode, boosts=tuple(boosts), config=config)
    assert_every_final_is_a_place_to_go_on(make, babble(10.0, drawn.randrange(99), pause_s=0.4))


@pytest.mark.parametrize("to_device", [False, True], ids=["to the CPU", "to the device"])
@pytest.mark.parametrize(("kind", "mode"), HEADS)
def test_a_stream_goes_on_where_there_is_another_device(
    emulated: torch.device, kind: str, mode: str, to_device: bool
) -> None:
    loaded = random_nemo(kind)
    placed = replace(loaded, model=deepcopy(loaded.model).to(emulated))
    there, here = (build_recognizer(each, ON_THE_HOST) for each in (placed, loaded))
    first, other = (here, there) if to_device else (there, here)
    samples = babble(6.0, 3, pause_s=0.4)
    (whole := Hand(first, mode=mode)).hear(samples)
    assert sum(bool(said.words) for said, _ in whole.told) > 1
    for place, (_, point) in enumerate(whole.told[:-1]):
        again = Hand(other, mode=mode)
        # Rounding differs between devices, and confidences with it.
        found = [said.words for said in replayed(again, point, samples)]
        assert found == [said.words for said, _ in whole.told[place + 1 :]]
        other.free(again.stream)


@pytest.mark.parametrize("mode", ["transducer_beam_search", "ctc_greedy_search"])
def test_written_forms_go_on_from_the_words_before(mode: str) -> None:
    loaded = random_nemo("chunks, tdt and ctc")
    parts = {"tagger": tagger_of(SYMBOLS)}
    config = StreamConfig(endpoint=QUICK, punctuate=True)
    samples = babble(8.0, 3, pause_s=0.4)
    make = partial(Hand, build_recognizer(loaded, CONFIG, parts), mode=mode, config=config)
    assert_every_final_is_a_place_to_go_on(make, samples)
    (whole := make(0)).hear(samples)
    (_, point) = whole.told[2]
    forgetful = replayed(make(1), replace(point, tags=None), samples)
    assert forgetful != [said for said, _ in whole.told[3:]]


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
    texts, anew = ([said.final[0].text for said, _ in each.told] for each in (hand, again))
    assert texts[len(texts) // 2 :] == anew


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


def tagger_of(words: Sequence[str]) -> WordTagger:
    """One of random weights."""
    torch.manual_seed(3)
    config = TaggerConfig(len(words), hashed=8, ends=16, word_size=8, end_size=4, size=16)
    return WordTagger(TaggerNetwork(config), WordNumbers(words, config), {})
