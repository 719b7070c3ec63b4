"""A U2 model's transducer, saved and loaded: the plain loops' labels, however chunks were cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from beam_oracle import BeamRules, Said, beam_search
from boost_walk import BoostWalk
from network_head import NetworkHead
from oracles import NO_BOOSTS, Found, frame_looping
from tiny_models import TINY, TINY_HEADS, TINY_TOKENIZER
from torch import Tensor

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.transducer.transducer import Transducer
from earshot.models.u2.u2 import U2Model
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.boosting import boost_capacity
from earshot.streaming.engine.recognizer import Recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import UnboostablePhrase
from earshot.streaming.results.hypothesis import Hypothesis
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig, StreamPriority
from earshot.streaming.u2.two_pass import TwoPass

WHOLE = EndpointConfig(silence_ms=None, no_speech_ms=60_000)
GREEDY = StreamConfig(mode="transducer_greedy_search", endpoint=WHOLE)
BEAM = StreamConfig(mode="transducer_beam_search", endpoint=WHOLE)
BOOSTS = (Boost("AB", 3.0), Boost("GEH", 3.0), Boost("C", 3.0), Boost("I", -3.0))
QUIET = {"rnnt": 6.0, "tdt": 0.5}
"""Added to the blank's logit, so that a random head is silent now and then."""
LOUD = 6.0
"""By so much a frame moves the joint, which random frames move little."""


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


@pytest.fixture(params=TINY_HEADS)
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> LoadedModel:
    torch.manual_seed(5)
    model = U2Model(replace(TINY, transducer=TINY_HEADS[request.param])).eval()
    save_model(tmp_path, model.requires_grad_(False), TINY_TOKENIZER, "spoken")
    speak(model, some_frames(load_model(tmp_path)))
    save_model(tmp_path, model, TINY_TOKENIZER, "spoken")
    return load_model(tmp_path)


def some_frames(loaded: LoadedModel) -> Tensor:
    recognizer = recognizer_of(loaded)
    stream = stream_of(recognizer, GREEDY)
    hear(recognizer, [stream])
    return stream.segment.memory()


def speak(model: U2Model, encoded: Tensor) -> None:
    """Have a random head tell frames and last labels apart, and be silent in some frames."""
    assert model.transducer is not None
    joint = model.transducer.joint
    joint.encoder.weight.mul_(LOUD / encoded.std(0).mean())
    joint.encoder.bias.copy_(-joint.encoder.weight @ encoded.mean(0))
    joint.predictor.weight.mul_(LOUD)
    joint.output.weight.mul_(LOUD)
    joint.output.bias[TINY.vocab_size] += QUIET[model.transducer.config.kind]


def head_of(loaded: LoadedModel) -> Transducer:
    head = u2_of(loaded).transducer
    assert head is not None
    return head


def recognizer_of(loaded: LoadedModel, **changes: int) -> TwoPass:
    config = EngineConfig(**{"max_streams": 4, "chunk_size": 4, "threads": 1, **changes})  # type: ignore[arg-type]
    recognizer = build_recognizer(loaded, config)
    assert isinstance(recognizer, TwoPass)
    return recognizer


def stream_of(recognizer: Recognizer, config: StreamConfig, slot: int = 0) -> ActiveStream:
    """A stream that hears noise that comes and goes."""
    search = recognizer.rules.choose_search(config)
    stream = ActiveStream(
        slot, config, search, StreamPriority.FILE, lambda event: None, Inbox(1), Future(),
        recognizer.settings,
    )  # fmt: skip
    random = np.random.default_rng(slot)
    loudness = np.repeat(random.uniform(0, 0.3, 40), 1600)
    stream.listen((loudness * random.normal(size=len(loudness))).astype(np.float32))
    return stream


def hear(recognizer: Recognizer, streams: Sequence[ActiveStream], steps: int = 6) -> None:
    for _ in range(steps):
        lanes = [Lane(stream, stream.ready_cut()) for stream in streams]
        recognizer.encode(lanes)
        recognizer.decode(lanes)


def best_of(recognizer: TwoPass, stream: ActiveStream) -> Hypothesis:
    [best] = recognizer.best([stream])
    return best.hypothesis


def told(found: Hypothesis) -> tuple[object, ...]:
    return found.text, found.tokens, tuple(found.frames), tuple(found.ends or ())


def plain(head: Transducer, encoded: Tensor, boosts: BoostWalk = NO_BOOSTS) -> Found:
    cap = head.config.max_symbols
    return frame_looping(NetworkHead(head), head.hear(encoded), cap, boosts=boosts)[0]


def plain_beam(head: Transducer, encoded: Tensor) -> list[Said]:
    rules = BeamRules(width=4, max_symbols=head.config.max_symbols, waits="frame")
    found = beam_search(NetworkHead(head), head.hear(encoded), rules)
    return sorted(found, key=lambda said: -said.score)


def test_greedy_labels_are_the_plain_loops(loaded: LoadedModel) -> None:
    recognizer = recognizer_of(loaded)
    stream = stream_of(recognizer, GREEDY)
    hear(recognizer, [stream])
    found, expected = best_of(recognizer, stream), plain(head_of(loaded), stream.segment.memory())
    assert 5 < len(expected.tokens) < 3 * stream.segment.frames
    assert (found.tokens, found.frames) == (tuple(expected.tokens), tuple(expected.frames))
    np.testing.assert_allclose(found.token_log_probs, expected.log_probs, atol=1e-4)
    assert found.text == loaded.tokenizer.decode(expected.tokens) != ""


def test_a_beams_hypotheses_are_the_plain_searchs(loaded: LoadedModel) -> None:
    recognizer = recognizer_of(loaded)
    stream = stream_of(recognizer, BEAM)
    hear(recognizer, [stream], steps=3)
    expected = plain_beam(head_of(loaded), stream.segment.memory())
    assert best_of(recognizer, stream).tokens == expected[0].tokens != ()
    texts = dict.fromkeys(loaded.tokenizer.decode(each.tokens) for each in expected)
    found = recognizer._search.nbest(stream, 10, ended=True)
    assert [each.text for each in found] == list(texts)
    assert len(texts) > 1
    assert len(recognizer._search.nbest(stream, 1, ended=True)) == 1


def test_the_ctc_blank_is_a_label_that_is_not_spelled(loaded: LoadedModel) -> None:
    head = head_of(loaded)
    head.joint.output.bias[TINY.blank_id] += 100.0
    recognizer = recognizer_of(loaded)
    stream = stream_of(recognizer, GREEDY)
    hear(recognizer, [stream])
    found = best_of(recognizer, stream)
    assert set(found.tokens) == {TINY.blank_id}
    assert (found.text, list(found.words)) == ("", [])


def test_boosts_are_the_plain_loops(loaded: LoadedModel) -> None:
    recognizer = recognizer_of(loaded)
    stream, other = stream_of(recognizer, GREEDY), stream_of(recognizer, GREEDY, slot=1)
    hear(recognizer, [stream, other], steps=2)
    config = replace(GREEDY, boosts=BOOSTS)
    compiled = recognizer.compile(BOOSTS, config)
    assert recognizer.configure(stream, config, compiled) == compiled.told
    hear(recognizer, [stream, other], steps=4)
    head, encoded = head_of(loaded), stream.segment.memory()
    expected = plain(head, encoded, BoostWalk(compiled.table)).tokens
    assert best_of(recognizer, stream).tokens == tuple(expected)
    assert expected != plain(head, encoded).tokens
    unboosted = plain(head, other.segment.memory()).tokens
    assert best_of(recognizer, other).tokens == tuple(unboosted)


@pytest.mark.parametrize("config", [GREEDY, BEAM])
def test_boosts_that_do_not_fit_are_refused(
    loaded: LoadedModel, config: StreamConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boost_capacity, "BOOST_STATES_PER_STREAM", 0)
    recognizer = recognizer_of(loaded)
    stream = stream_of(recognizer, config)
    hear(recognizer, [stream], steps=3)
    before = best_of(recognizer, stream).tokens
    asked = replace(config, boosts=BOOSTS)
    warnings = recognizer.configure(stream, asked, recognizer.compile(BOOSTS, asked))
    refused = [each.phrase for each in warnings if isinstance(each, UnboostablePhrase)]
    assert refused == ["AB", "GEH", "C", "I"]
    assert best_of(recognizer, stream).tokens == before


@pytest.mark.parametrize("config", [GREEDY, BEAM])
def test_a_stream_that_is_over_leaves_its_slot_without_boosts(
    loaded: LoadedModel, config: StreamConfig
) -> None:
    recognizer = recognizer_of(loaded)
    first = stream_of(recognizer, config)
    asked = replace(config, boosts=BOOSTS)
    recognizer.configure(first, asked, recognizer.compile(BOOSTS, asked))
    hear(recognizer, [first])
    recognizer.free(first)
    second = stream_of(recognizer, config)
    hear(recognizer, [second])
    alone = recognizer_of(loaded)
    other = stream_of(alone, config)
    hear(alone, [other])
    assert told(best_of(recognizer, second)) == told(best_of(alone, other))
    assert told(best_of(recognizer, second)) != told(best_of(recognizer, first))


@pytest.mark.parametrize("config", [GREEDY, BEAM])
def test_a_stream_says_the_same_in_company_and_walked_anew(
    loaded: LoadedModel, config: StreamConfig
) -> None:
    together, alone = recognizer_of(loaded), recognizer_of(loaded)
    company = [stream_of(together, config, slot) for slot in range(4)]
    hear(together, company)
    [own] = [stream_of(alone, config, 2)]
    hear(alone, [own])
    assert told(best_of(together, company[2])) == told(best_of(alone, own))
    scores = [each.score for each in together._search.nbest(company[2], 10, ended=True)]
    together._search.rewind(company[2])
    assert told(best_of(together, company[2])) == told(best_of(alone, own))
    again = [each.score for each in together._search.nbest(company[2], 10, ended=True)]
    assert again == pytest.approx(scores)


@pytest.mark.parametrize("config", [GREEDY, BEAM])
@pytest.mark.parametrize("chunk", [1, 5, 24])
def test_other_chunks_of_the_same_frames_say_the_same(
    loaded: LoadedModel, config: StreamConfig, chunk: int
) -> None:
    recognizer = recognizer_of(loaded)
    stream = stream_of(recognizer, config)
    hear(recognizer, [stream])
    expected, search = told(best_of(recognizer, stream)), recognizer._search._searches
    frames = stream.segment.memory()
    search[stream.search].restart([stream])
    for encoded in frames.split(chunk):
        lane = Lane(stream, stream.ready_cut())
        lane.encoded, lane.used = encoded, len(encoded)
        search[stream.search].advance([lane])
    assert told(best_of(recognizer, stream)) == expected


@pytest.mark.parametrize("config", [GREEDY, BEAM])
def test_only_frames_that_are_used_are_walked(loaded: LoadedModel, config: StreamConfig) -> None:
    recognizer = recognizer_of(loaded)
    stream = stream_of(recognizer, config)
    hear(recognizer, [stream])
    search = recognizer._search._searches[stream.search]
    frames, reached = stream.segment.memory(), []
    for used in (7, len(frames)):
        search.restart([stream])
        lane = Lane(stream, stream.ready_cut())
        lane.encoded, lane.used = frames, used
        search.advance([lane])
        reached.append(best_of(recognizer, stream).frames)
    assert list(reached[0]) == [frame for frame in reached[1] if frame < 7]
    assert len(reached[0]) < len(reached[1])


def test_a_stream_changes_its_mode_on_the_way(loaded: LoadedModel) -> None:
    recognizer, expected = recognizer_of(loaded), {}
    ctc = StreamConfig(mode="ctc_greedy_search", endpoint=WHOLE)
    for config in (GREEDY, BEAM, ctc):
        alone = recognizer_of(loaded)
        stream = stream_of(alone, config)
        hear(alone, [stream])
        expected[config.mode] = told(best_of(alone, stream))
    assert len(set(expected.values())) == 3
    stream = stream_of(recognizer, ctc)
    hear(recognizer, [stream], steps=2)
    for config, steps in ((BEAM, 1), (GREEDY, 1), (ctc, 1), (GREEDY, 1), (BEAM, 0), (GREEDY, 0)):
        recognizer.configure(stream, config, recognizer.compile((), config))
        hear(recognizer, [stream], steps)
    for config in (BEAM, ctc, GREEDY):
        recognizer.configure(stream, config, recognizer.compile((), config))
        assert told(best_of(recognizer, stream)) == expected[config.mode]


@pytest.mark.parametrize("config", [GREEDY, BEAM])
def test_frames_that_are_no_numbers_fail_their_stream_alone(
    loaded: LoadedModel, config: StreamConfig
) -> None:
    recognizer, alone = recognizer_of(loaded), recognizer_of(loaded)
    streams = [stream_of(recognizer, config, slot) for slot in range(2)]
    own = stream_of(alone, config, slot=1)
    hear(recognizer, streams, steps=3)
    hear(alone, [own], steps=4)
    lanes = [Lane(stream, stream.ready_cut()) for stream in streams]
    recognizer.encode(lanes)
    lanes[0].encoded.fill_(torch.nan)
    with pytest.raises(DecodingFailed, match="not finite"):
        recognizer.decode(lanes)
    with pytest.raises(DecodingFailed, match="not finite"):
        recognizer.decode_again(lanes[:1])
    recognizer.decode_again(lanes[1:])
    assert told(best_of(recognizer, streams[1])) == told(best_of(alone, own))
