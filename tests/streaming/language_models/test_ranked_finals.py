"""Finals that language models by name have ranked, by the model that hears tones."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from searching import MODES, SCALE, cost, named, scores, speaking
from tiny_lms import SMALL, TENANT, alike, write_lm

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import Configured, Failed, NotConfigured, Partial
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.language_models import list_prices
from earshot.streaming.language_models.list_prices import ADDED
from earshot.streaming.language_models.open_lms import OpenLms
from earshot.streaming.results.hypothesis import SpokenWord
from earshot.streaming.results.kept_words import NO_WORDS, KeptWords
from earshot.streaming.search.graph_search import WfstDecoder
from earshot.streaming.stream_config import EndpointConfig, StreamConfig


def asking(lm: str | None = None, mode: str = MODES[0], **options) -> StreamConfig:
    return StreamConfig(mode=mode, graph=named(lm), **{"interim_results": False, **options})


@pytest.fixture
def lms(tmp_path) -> Path:
    folder = tmp_path / "lms"
    folder.mkdir()
    return folder


@pytest.fixture
def make_alike(make_engine, tone_model, tmp_path, lms) -> Callable:
    """Makes engines whose words sound alike."""

    def make(
        *,
        with_small: bool = True,
        lattice_beam: float = 8.0,
        weights: dict[str, float] | None = None,
    ):
        graph = alike(tmp_path / "own", tone_model.tokenizer.vocab_size, with_small=with_small)
        search = GraphSearchConfig(lm_weight=SCALE, max_active=200, lattice_beam=lattice_beam)
        options = {"chunk_size": 8, "num_left_chunks": 2, "max_streams": 8}
        return make_engine(
            tone_model,
            graph=graph,
            graph_search=search,
            lm_dir=lms,
            weights=weights or {},
            **options,
        )

    return make


@pytest.fixture
def engine(make_alike):
    return make_alike()


@pytest.mark.parametrize("mode", MODES)
def test_a_tenants_model_finds_the_word_that_the_graphs_own_takes_for_another(
    make_alike, lms, sounds, mode
):
    engine = make_alike(weights={"ctc": 10.0})  # the tones' attention decoder knows nothing
    write_lm(lms / "tenant.lm", TENANT)
    samples = sounds.speech("一二")
    assert sounds.transcribe(engine, samples, asking(mode=mode)).text == "七二"
    heard = sounds.transcribe(engine, samples, asking("tenant", mode))
    assert heard.text == "一二"
    assert [word.text for word in heard.finals[0].alternatives[0].words] == ["一", "二"]


def test_scores_have_what_the_model_says_in_place_of_what_the_graphs_own_does(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    samples = sounds.speech("一二一")
    before = scores(sounds.transcribe(engine, samples, asking(alternatives=100)))
    after = scores(sounds.transcribe(engine, samples, asking("tenant", alternatives=100)))
    both = before.keys() & after.keys()
    assert {"一二一", "一二七", "七二一"} <= both
    for text in both:
        wanted = before[text] + SCALE * (cost(SMALL, text) - cost(TENANT, text))
        assert after[text] == pytest.approx(wanted, abs=0.01)
    assert list(after.values()) == sorted(after.values(), reverse=True)


@pytest.fixture
def small_lattices_only(monkeypatch) -> list[object]:
    """No lattice can be priced in time, so that models rank lists. Returns what was tried."""
    tried: list[object] = []
    monkeypatch.setattr(list_prices, "priced_paths", lambda *_, **asked: tried.append(asked))
    return tried


def test_texts_are_found_of_which_a_hundred_others_are_likelier_to_the_graph(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    samples = sounds.speech("一" * 8)
    listed = scores(sounds.transcribe(engine, samples, asking(alternatives=100)))
    assert len(listed) == 100
    assert "一" * 8 not in listed
    assert sounds.transcribe(engine, samples, asking("tenant")).text == "一" * 8


def test_a_list_is_ranked_where_a_lattice_is_too_large(engine, lms, sounds, small_lattices_only):
    write_lm(lms / "tenant.lm", TENANT)
    samples = sounds.speech("一二一")
    before = scores(sounds.transcribe(engine, samples, asking(alternatives=100)))
    after = scores(sounds.transcribe(engine, samples, asking("tenant", alternatives=100)))
    assert before.keys() == after.keys()
    for text, score in before.items():
        wanted = score + SCALE * (cost(SMALL, text) - cost(TENANT, text))
        assert after[text] == pytest.approx(wanted, abs=0.01)
    assert list(after.values()) == sorted(after.values(), reverse=True)
    assert engine.counters.search.lm_finals == len(small_lattices_only) == 1


def test_a_mix_is_one_of_probabilities(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    write_lm(lms / "other.lm", SMALL)
    samples = sounds.speech("一")
    before = scores(sounds.transcribe(engine, samples, asking(alternatives=100)))
    heard = sounds.transcribe(engine, samples, asking("tenant:0.25,other:0.75", alternatives=100))
    both = before.keys() & scores(heard).keys()
    assert {"一", "七"} <= both
    for text in both:
        mixed = -sum(
            np.log(0.25 * np.exp(-TENANT[word]) + 0.75 * np.exp(-SMALL[word]))
            for word in (*text, "</s>")
        )
        wanted = before[text] + SCALE * (cost(SMALL, text) - mixed)
        assert scores(heard)[text] == pytest.approx(wanted, abs=0.01)


def test_the_graphs_own_model_may_be_one_of_a_mix(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    write_lm(lms / "other.lm", SMALL)
    samples = sounds.speech("一二")
    named = scores(sounds.transcribe(engine, samples, asking("tenant:0.25,other:0.75")))
    own = scores(sounds.transcribe(engine, samples, asking("tenant:0.25,on:0.75")))
    turned = scores(sounds.transcribe(engine, samples, asking("on:0.75,tenant:0.25")))
    assert own == pytest.approx(named, abs=1e-9)
    assert turned == pytest.approx(named, abs=1e-9)


def test_of_a_graph_that_does_not_hold_its_model_it_cannot_be_mixed(make_alike, lms, sounds):
    engine = make_alike(with_small=False)
    write_lm(lms / "tenant.lm", TENANT)
    with pytest.raises(InvalidStreamConfig, match="does not hold its n-grams, so on cannot"):
        sounds.transcribe(engine, sounds.speech("一"), asking("tenant:0.25,on:0.75"))


def test_a_part_is_added_to_a_graph_that_does_not_hold_its_model(make_alike, lms, sounds, caplog):
    engine = make_alike(with_small=False)
    assert "language models are added" in caplog.text
    write_lm(lms / "tenant.lm", TENANT)
    samples = sounds.speech("一二")
    before = scores(sounds.transcribe(engine, samples, asking(alternatives=100)))
    after = scores(sounds.transcribe(engine, samples, asking("tenant", alternatives=100)))
    both = before.keys() & after.keys()
    assert {"一二", "七二"} <= both
    for text in both:
        wanted = before[text] - SCALE * ADDED * cost(TENANT, text)
        assert after[text] == pytest.approx(wanted, abs=0.01)
    [told] = engine.language_models()
    assert not told.subtracts


def test_a_segment_that_was_cut_goes_on_with_its_words(engine, lms, sounds):
    """Behind the start 七 is likelier, behind a word 一."""
    behind = {"<s> 一": 6.0, "<s> 七": 0.1, "一 一": 0.1, "一 七": 6.0, "七 一": 0.1, "七 七": 6.0}
    write_lm(lms / "tenant.lm", {**TENANT, **behind})
    endpoint = EndpointConfig(silence_ms=None, max_utterance_ms=2000)
    samples = sounds.speech("一" * 9, gap_s=0.5)
    heard = sounds.transcribe(engine, samples, asking("tenant", endpoint=endpoint))
    texts = [final.alternatives[0].text for final in heard.finals]
    assert [final.cause for final in heard.finals][:2] == ["max_utterance"] * 2
    assert texts[0][0] == "七", texts
    assert set("".join(texts)[1:]) == {"一"}


def test_and_after_a_pause_it_begins_anew(engine, lms, sounds):
    behind = {"<s> 一": 6.0, "<s> 七": 0.1, "一 一": 0.1, "一 七": 6.0, "七 一": 0.1, "七 七": 6.0}
    write_lm(lms / "tenant.lm", {**TENANT, **behind})
    heard = sounds.transcribe(engine, sounds.speech("一一_一一"), asking("tenant"))
    assert [final.alternatives[0].text for final in heard.finals] == ["七一", "七一"]


def test_partials_are_those_of_the_graph_alone(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    samples = sounds.speech("一二")
    heard = sounds.transcribe(engine, samples, asking("tenant", interim_results=True))
    assert {event.alternatives[0].text for event in heard.of(Partial)} <= {"七", "七二"}
    assert heard.text == "一二"


def test_words_that_were_called_stable_stay(make_alike, lms, sounds):
    engine = make_alike(lattice_beam=2.0)
    write_lm(lms / "tenant.lm", TENANT)
    samples = sounds.speech("二" * 12 + "一")
    heard = sounds.transcribe(engine, samples, asking("tenant", interim_results=True))
    stable = max(event.stable_words for event in heard.of(Partial))
    told = next(event for event in heard.of(Partial) if event.stable_words == stable)
    words = [word.text for word in told.alternatives[0].words[:stable]]
    assert stable > 0
    assert [word.text for word in heard.finals[0].alternatives[0].words[:stable]] == words


def test_words_that_were_told_are_found_below_what_the_models_like_best(
    engine, lms, sounds, monkeypatch
):
    write_lm(lms / "tenant.lm", TENANT)
    usual, lists = WfstDecoder.nbest, []

    def nbest(decoder, stream, count, *, ended):
        best = usual(decoder, stream, 1, ended=ended)
        stream.segment.kept = KeptWords((SpokenWord("七", 0, 1, False),))
        lists.append([each.text for each in usual(decoder, stream, 1, ended=ended)])
        stream.segment.kept = NO_WORDS
        return best

    monkeypatch.setattr(WfstDecoder, "nbest", nbest)
    heard = sounds.transcribe(engine, sounds.speech("一二"), asking("tenant"))
    assert heard.text == "一二"
    assert "七二" in lists[-1]


def test_a_change_counts_at_once_where_nothing_was_said_yet(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    listener = sounds.Listener()
    stream = engine.open(asking(), listener)
    stream.push(sounds.noise(0.5))
    stream.configure([], named("tenant"))
    stream.push(sounds.speech("一"))
    stream.finish()
    listener.wait_for_last()
    assert len(listener.of(Configured)) == 1
    assert listener.text == "一"


def test_and_else_from_the_next_segment_on(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    stream, listener = speaking(engine, asking(interim_results=True), sounds.speech("一一"), sounds)
    stream.configure([], named("tenant"))
    stream.push(sounds.speech("一_一 "))
    listener.wait_for(lambda event: isinstance(event, Partial) and event.start_s > 1.0)
    stream.configure([], GraphOptions())
    stream.push(sounds.speech("_一"))
    stream.finish()
    listener.wait_for_last()
    assert [final.alternatives[0].text for final in listener.finals] == ["七七七", "一", "七"]


def test_an_unknown_name_is_refused_with_those_that_there_are(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    write_lm(lms / "other.lm", SMALL)
    with pytest.raises(
        InvalidStreamConfig, match=r"lm=law: there is no .* there are: other, tenant"
    ):
        engine.open(asking("law"), sounds.Listener())


def test_a_change_to_an_unknown_name_is_refused_and_the_stream_goes_on(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    listener = sounds.Listener()
    stream = engine.open(asking("tenant"), listener)
    stream.configure([], named("law"))
    stream.configure([])
    stream.push(sounds.speech("一"))
    stream.finish()
    listener.wait_for_last()
    [refused] = listener.of(NotConfigured)
    assert refused.reason.endswith("there are: tenant")
    assert len(listener.of(Configured)) == 1
    assert listener.text == "一"


def test_a_damaged_model_is_named_and_the_others_go_on(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    (lms / "torn.lm").write_bytes((lms / "tenant.lm").read_bytes()[:-100])
    (lms / "text.lm").write_text("no image")
    os.mkfifo(lms / "pipe.lm")
    for name, why in (("torn", "bytes where"), ("text", "no image"), ("pipe", "no file")):
        with pytest.raises(InvalidStreamConfig, match=f"lm={name}: .*{why}"):
            engine.open(asking(name), sounds.Listener())
    assert sounds.transcribe(engine, sounds.speech("一"), asking("tenant")).text == "一"
    assert [each.name for each in engine.language_models()] == ["tenant"]


@pytest.mark.parametrize("mode", ["ctc_prefix_beam_search", "ctc_greedy_search"])
def test_modes_without_a_graph_take_no_model(engine, lms, sounds, mode):
    write_lm(lms / "tenant.lm", TENANT)
    with pytest.raises(
        InvalidStreamConfig, match=f"lm=tenant: models by name .* mode {mode} uses none"
    ):
        engine.open(asking("tenant", mode), sounds.Listener())


def test_models_are_counted_and_closed_with_their_last_stream(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    listeners = [sounds.Listener() for _ in range(2)]
    streams = [engine.open(asking("tenant"), listener) for listener in listeners]
    for stream, listener in zip(streams, listeners, strict=True):
        stream.configure([])
        listener.wait_for(lambda event: isinstance(event, Configured))
    assert engine.stats.open_lms == 1
    assert is_mapped(lms / "tenant.lm")
    streams[0].cancel()
    listeners[0].wait_for_last()
    assert engine.stats.open_lms == 1
    streams[1].finish()
    listeners[1].wait_for_last()
    assert engine.stats.open_lms == 0
    assert not is_mapped(lms / "tenant.lm")


def test_finals_and_words_that_models_were_asked_about_are_counted(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    sounds.transcribe(engine, sounds.speech("一"), asking())
    assert (engine.counters.search.lm_finals, engine.counters.search.lm_words) == (0, 0)
    sounds.transcribe(engine, sounds.speech("一"), asking("tenant"))
    assert engine.counters.search.lm_finals == 1
    assert engine.counters.search.lm_words > 1


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()


def test_models_of_a_change_that_breaks_its_stream_are_closed(engine, lms, sounds, monkeypatch):
    write_lm(lms / "tenant.lm", TENANT)
    listener = sounds.Listener()
    stream = engine.open(asking(), listener)
    stream.push(sounds.speech("一"))
    stream.configure([])
    listener.wait_for(lambda event: isinstance(event, Configured))

    def broken(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(engine._loop._recognizer, "configure", broken)
    stream.configure([], named("tenant"))
    assert isinstance(listener.wait_for_last(), Failed)
    assert engine.stats.open_lms == engine._lms.count == 0
    assert not is_mapped(lms / "tenant.lm")


def test_a_change_of_something_else_leaves_a_removed_model_with_its_stream(engine, lms, sounds):
    write_lm(lms / "tenant.lm", TENANT)
    listener = sounds.Listener()
    stream = engine.open(asking("tenant"), listener)
    stream.configure([])
    listener.wait_for(lambda event: isinstance(event, Configured))
    (lms / "tenant.lm").unlink()
    engine._lms._folder._looked_s -= 1.0  # as if a second had passed
    stream.configure([])
    stream.push(sounds.speech("一"))
    stream.finish()
    listener.wait_for_last()
    assert len(listener.of(Configured)) == 2
    assert listener.text == "一"
    with pytest.raises(InvalidStreamConfig, match="there are: none"):
        engine.open(asking("tenant"), sounds.Listener())


def test_a_model_that_goes_while_its_stream_is_opened_fails_that_stream_alone(
    engine, sounds, monkeypatch
):
    monkeypatch.setattr(OpenLms, "check", lambda *_: None)
    monkeypatch.setattr(engine._opener, "_hold_open", lambda asked: None)
    for _ in range(50):
        listener = sounds.Listener()
        engine.open(asking("tenant"), listener)
        last = listener.wait_for_last()
        assert isinstance(last, Failed)
        assert isinstance(last.error, InvalidStreamConfig)
    assert engine.stats.failed_streams == 0
    assert sounds.transcribe(engine, sounds.speech("一"), asking()).text == "七"
