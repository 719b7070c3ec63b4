"""One model hears in the chunk that each stream asks for, whole segments among them."""

from dataclasses import replace

import numpy as np
import pytest
import soundfile
import torch

from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import Configured, Final, Partial
from earshot.streaming.requests import Configure
from earshot.streaming.stream_config import WHOLE, StreamConfig, StreamPriority
from earshot.streaming.u2.two_pass import TwoPass

FRAME_MS = 40.0
SHORT, USUAL = 8 * FRAME_MS, 16 * FRAME_MS
CLIP = "2035-147961-0003.opus"
OPTIONS = {"max_streams": 4, "max_file_lanes": 4, "precision": "float32"}


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load_model(bundled_model_dir())


@pytest.fixture
def recording(sounds, clips_manifest) -> np.ndarray:
    """Somebody reads from a book in noise, and stops."""
    said, _ = soundfile.read(clips_manifest.parent / CLIP, dtype="float32")
    noisy = said + np.random.default_rng(3).normal(0, 0.02, len(said)).astype(np.float32)
    return np.concatenate((noisy, sounds.noise(1.5)))


def results(listener) -> list[Final]:
    assert listener.text
    return listener.finals


def confidences(final: Final) -> list[tuple[str, float]]:
    """Words of a final with what the encoder's frames make of them, without times."""
    return [(word.text, word.confidence) for word in final.alternatives[0].words]


def heard(engine, sounds, samples, chunk_ms, priority=StreamPriority.LIVE) -> list[Final]:
    config = StreamConfig(chunk_ms=chunk_ms, interim_results=False)
    return results(sounds.transcribe(engine, samples, config, priority=priority))


def test_a_chunk_that_is_asked_for_is_that_of_an_engine_with_it(
    make_engine, model, sounds, recording
):
    expected = heard(make_engine(model, chunk_size=8, **OPTIONS), sounds, recording, None)
    assert heard(make_engine(model, **OPTIONS), sounds, recording, SHORT) == expected


def test_streams_of_all_chunks_share_steps_and_each_hears_what_it_hears_alone(
    make_engine, model, sounds, recording
):
    chunks = [None, SHORT, 32 * FRAME_MS, WHOLE]
    engine = make_engine(model, **OPTIONS)
    alone = [heard(engine, sounds, recording, chunk_ms) for chunk_ms in chunks]
    opened = []
    for chunk_ms in chunks:
        listener = sounds.Listener()
        config = StreamConfig(chunk_ms=chunk_ms, interim_results=False)
        opened.append((engine.open(config, listener), listener))
    for start in range(0, len(recording), 8000):
        for stream, listener in opened:
            sounds.push_all(stream, recording[start : start + 8000], listener=listener)
    for stream, _ in opened:
        stream.finish()
    for (_, listener), expected in zip(opened, alone, strict=True):
        listener.wait_for_last()
        assert results(listener) == expected


def test_a_whole_segment_is_heard_without_a_chunk_mask(
    make_engine, model, sounds, recording, monkeypatch
):
    kept = []
    monkeypatch.setattr(
        TwoPass,
        "finish",
        lambda self, endings, beat: kept.extend(
            (e.stream.whole_window(), e.stream.segment.memory()) for e in endings
        ),
    )
    sounds.transcribe(
        make_engine(model, **OPTIONS),
        recording,
        StreamConfig(chunk_ms=WHOLE),
        priority=StreamPriority.LIVE,
    )
    assert kept
    for window, memory in kept:
        with torch.inference_mode():
            whole, _ = model.model.encoder(window[None], torch.tensor([len(window)]))
        torch.testing.assert_close(memory, whole[0], rtol=1e-3, atol=1e-3)


def test_a_file_is_heard_whole_unless_it_asks_for_a_chunk(make_engine, model, sounds, recording):
    engine = make_engine(model, **OPTIONS)
    whole, usual = (heard(engine, sounds, recording, each) for each in (WHOLE, USUAL))
    assert whole != usual
    assert heard(engine, sounds, recording, None, StreamPriority.FILE) == whole
    assert heard(engine, sounds, recording, USUAL, StreamPriority.FILE) == usual
    assert heard(engine, sounds, recording, None) == usual


def test_words_told_as_stable_outlive_the_whole_segment(make_engine, model, sounds, recording):
    listener = sounds.transcribe(
        make_engine(model, **OPTIONS),
        recording,
        StreamConfig(chunk_ms=WHOLE),
        priority=StreamPriority.LIVE,
    )
    told: list[str] = []
    for event in listener.events:
        if isinstance(event, Partial):
            words = event.alternatives[0].words
            told = [word.text for word in words[: event.stable_words]]
        elif isinstance(event, Final):
            words = [word.text for word in event.alternatives[0].words]
            assert words[: len(told)] == told
            told = []


def test_a_configure_changes_the_chunk_from_the_next_segment_on(
    make_engine, model, sounds, recording
):
    engine = make_engine(model, **OPTIONS)
    listener = sounds.Listener()
    stream = engine.open(StreamConfig(interim_results=False), listener)
    sounds.push_all(stream, recording[:16000], listener=listener)
    stream.ask(Configure(boosts=(), chunk_ms=SHORT))
    listener.wait_for(lambda event: isinstance(event, Configured))
    sounds.push_all(stream, recording[16000:], listener=listener)
    stream.finalize()
    sounds.push_all(stream, recording, listener=listener)
    stream.finish()
    listener.wait_for_last()
    first, second = (heard(engine, sounds, recording, each) for each in (None, SHORT))
    told = [confidences(final) for final in listener.finals]
    assert told == [confidences(final) for final in (*first, *second)]
    assert told != [confidences(final) for final in (*first, *first)]


@pytest.mark.parametrize("chunk_ms", [1.0, 300.0, float("nan")])
def test_chunks_that_the_model_was_not_trained_for_are_refused(make_engine, model, chunk_ms):
    engine = make_engine(model, **OPTIONS)
    with pytest.raises(InvalidStreamConfig, match="320, 640, 1280, whole"):
        engine.open(StreamConfig(chunk_ms=chunk_ms), print)


def test_a_model_that_names_no_sizes_has_its_own_alone(make_engine, tone_model):
    engine = make_engine(tone_model, chunk_size=8)
    assert engine.model.chunks_ms == (320.0,)
    with pytest.raises(InvalidStreamConfig, match="whole"):
        engine.open(replace(StreamConfig(), chunk_ms=WHOLE), print)
