"""Where and when models of a search are opened, and who waits for them."""

import threading
from collections.abc import Iterator, Sequence

import pytest
from searching import PATIENCE_S, SCALE, asking, named, speaking
from tiny_lms import SMALL, alike, write_lm

from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine.stream_intake import MOST_OPENING
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Configured, NotConfigured, Partial
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.held_lms import let_go
from earshot.streaming.lm_mix import read_lm
from earshot.streaming.stream_config import Boost
from earshot.streaming.workers.engine_pool import EnginePool


def test_words_are_found_once_and_on_the_thread_that_opens_models(engine, lms, sounds, monkeypatch):
    usual, found = LmImage.find_words, []

    def find_words(image: LmImage, texts: Sequence[str]):
        found.append((image.name, threading.current_thread().name))
        return usual(image, texts)

    monkeypatch.setattr(LmImage, "find_words", find_words)
    samples = sounds.speech("一")
    sounds.transcribe(engine, samples, asking("tenant"))
    assert {name for name, _ in found} == {"small.lm", "tenant.lm"}
    assert {thread for _, thread in found} == {"language-models_0"}
    del found[:]
    assert sounds.transcribe(engine, samples, asking("tenant")).text == "一"
    assert found == []
    write_lm(lms / "new.lm", SMALL).rename(lms / "tenant.lm")
    assert sounds.transcribe(engine, samples, asking("tenant")).text == "七"
    assert found == [("tenant.lm", "language-models_0")]


@pytest.fixture
def gate(engine, monkeypatch) -> threading.Event:
    """Models are opened once it is set."""
    gate, usual = threading.Event(), engine._opener._hold

    def hold(asked):
        assert gate.wait(PATIENCE_S)
        return usual(asked)

    monkeypatch.setattr(engine._opener, "_hold", hold)
    return gate


def wait_for_opener(engine) -> None:
    """Until all that was asked for before is open."""
    let_go(engine._opener.submit(read_lm("tenant")))
    engine._opener._thread.submit(lambda: None).result(PATIENCE_S)


def test_a_stream_begins_when_its_models_are_open_and_loses_nothing(engine, sounds, gate):
    listener = sounds.Listener()
    stream = engine.open(asking("tenant"), listener)
    stream.push(sounds.speech("一二"))
    stream.finish()
    assert sounds.transcribe(engine, sounds.speech("一"), asking()).text == "七"
    assert listener.events == []
    gate.set()
    listener.wait_for_last()
    assert listener.text == "一二"


def test_who_is_gone_before_models_are_open_holds_none(engine, sounds, gate):
    listeners = [sounds.Listener() for _ in range(2)]
    waiting, changing = (
        engine.open(asking(lm), listener)
        for lm, listener in zip(("tenant", None), listeners, strict=True)
    )
    changing.configure([], named("other"))
    for stream, listener in zip((waiting, changing), listeners, strict=True):
        stream.cancel()
        listener.wait_for_last()
    gate.set()
    wait_for_opener(engine)
    assert engine._lms.count == 0


@pytest.fixture
def numbering(engine, monkeypatch) -> Iterator[threading.Event]:
    """Set once the words of `other` are looked for, which then takes to the test's end."""
    begun, over, usual = threading.Event(), threading.Event(), LmImage.find_words

    def find_words(image: LmImage, texts: Sequence[str]):
        if image.name == "other.lm":
            begun.set()
            assert over.wait(PATIENCE_S)
        return usual(image, texts)

    monkeypatch.setattr(LmImage, "find_words", find_words)
    yield begun
    over.set()


def test_nobody_waits_for_a_model_that_another_names(engine, sounds, numbering):
    stream, listener = speaking(engine, asking("tenant"), sounds.speech("一二一"), sounds)
    engine.open(asking("other"), sounds.Listener())
    assert numbering.wait(PATIENCE_S)
    assert sounds.transcribe(engine, sounds.speech("一"), asking("tenant")).text == "一"
    for graph in (None, named("tenant"), named("absent")):
        stream.configure([], graph)
        listener.wait_for(lambda event: isinstance(event, Configured | NotConfigured))


def test_what_was_refused_is_not_done_by_the_next_change(engine, lms, sounds, monkeypatch):
    monkeypatch.setattr(engine._lms, "_most", 1)
    listeners = [sounds.Listener() for _ in range(2)]
    holder, stream = (
        engine.open(asking(lm), listener)
        for lm, listener in zip(("other", None), listeners, strict=True)
    )
    holder.push(sounds.speech("一二一"))
    listeners[0].wait_for(lambda event: isinstance(event, Partial))
    stream.configure([], named("tenant"))
    listeners[1].wait_for(lambda event: isinstance(event, NotConfigured))
    (lms / "tenant.lm").unlink()
    stream.configure([], named("tenant"))
    listeners[1].wait_for(lambda event: len(listeners[1].of(NotConfigured)) == 2)
    stream.configure([Boost("二", 1.0)])
    listeners[1].wait_for(lambda event: isinstance(event, Configured))
    stream.push(sounds.speech("一"))
    stream.finish()
    listeners[1].wait_for_last()
    assert listeners[1].text == "七"


def test_a_change_that_keeps_a_model_whose_file_is_gone_counts_for_the_next(
    engine, lms, sounds, monkeypatch
):
    stream, listener = speaking(engine, asking("tenant"), sounds.speech("一二一"), sounds)
    (lms / "tenant.lm").unlink()
    usual, weights = engine._compiler.submit, []

    def submit(boosts, config):
        weights.append(config.graph.lm_weight)
        return usual(boosts, config)

    monkeypatch.setattr(engine._compiler, "submit", submit)
    stream.configure([], named("tenant", lm_weight=0.25))
    stream.configure([Boost("二", 1.0)])
    stream.finish()
    listener.wait_for_last()
    assert weights == [0.25, 0.25]
    assert len(listener.of(Configured)) == 2


def test_changes_that_wait_hold_few_models(engine, sounds, gate):
    listener = sounds.Listener()
    stream = engine.open(asking(), listener)
    for name in ("tenant", "other", "tenant", "tenant"):
        stream.configure([], named(name))
    gate.set()
    stream.finish()
    listener.wait_for_last()
    refused = f"{MOST_OPENING} changes of models wait"
    assert [type(event) for event in listener.of((Configured, NotConfigured))] == [
        Configured, Configured, NotConfigured, NotConfigured
    ]  # fmt: skip
    assert all(refused in event.reason for event in listener.of(NotConfigured))


def test_a_stream_that_fails_gives_back_what_its_changes_opened(engine, sounds):
    names, listener = ("tenant", "other"), sounds.Listener()
    holders = [sounds.Listener() for _ in names]
    holding = [engine.open(asking(lm), heard) for lm, heard in zip(names, holders, strict=True)]
    wait_for_opener(engine)

    def sink(event):
        if isinstance(event, Configured):
            raise RuntimeError
        listener(event)

    stream = engine.open(asking(), sink)
    with engine._registry.lock:  # the engine takes both together
        for name in names:
            stream.configure([], named(name))
    listener.wait_for_last()
    for each in holding:
        each.cancel()
    for heard in holders:
        heard.wait_for_last()
    assert engine.stats.failed_streams == 1
    assert engine.stats.open_lms == 0


@pytest.fixture
def pool(tone_model, tmp_path, lms) -> Iterator[EnginePool]:
    """Two engines in processes of their own."""
    graph = alike(tmp_path / "own", tone_model.tokenizer.vocab_size)
    search = GraphSearchConfig(lm_weight=SCALE, max_active=200, lm_in_search=True)
    config = EngineConfig(
        threads=1, chunk_size=8, num_left_chunks=2, max_streams=2, graph_search=search, lm_dir=lms
    )
    pool = EnginePool(build_recognizer(tone_model, config, {"graph": graph}), config, 2, 4)
    pool.start()
    yield pool
    pool.stop(PATIENCE_S)


def test_engines_in_processes_search_with_models(pool, sounds):
    assert all(each.searched for each in pool.language_models())
    listeners = [sounds.Listener() for _ in range(4)]
    samples = sounds.speech("一二")
    for lm, listener in zip((None, "tenant", "tenant", None), listeners, strict=True):
        stream = pool.open(asking(lm), listener)
        stream.push(samples)
        stream.finish()
    for listener in listeners:
        listener.wait_for_last()
    assert [listener.text for listener in listeners] == ["七二", "一二", "一二", "七二"]
    assert {event.alternatives[0].text for event in listeners[1].of(Partial)} == {"一", "一二"}
