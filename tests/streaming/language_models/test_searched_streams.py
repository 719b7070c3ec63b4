"""Streams whose search asks language models by name, by the model that hears tones."""

import pytest
from searching import (
    MIX,
    MODES,
    SCALE,
    asking,
    asking_for_all,
    cost,
    is_mapped,
    named,
    scores,
    speaking,
    together,
    told,
)
from tiny_lms import SMALL, TENANT, write_lm

from earshot.streaming.events import Configured, Final, NotConfigured, Partial
from earshot.streaming.language_models.list_prices import ListPrices
from earshot.streaming.search.graph_search import WfstDecoder
from earshot.streaming.stream_config import Boost

WITH_THE_GRAPHS_OWN = "on:0.5,tenant:0.25,other:0.25"


@pytest.mark.parametrize("mode", MODES)
def test_partials_and_finals_have_the_words_that_the_named_model_prefers(make_alike, sounds, mode):
    engine = make_alike(weights={"ctc": 10.0})  # the tones' attention decoder knows nothing
    samples = sounds.speech("一二")
    own = sounds.transcribe(engine, samples, asking(mode=mode))
    assert {event.alternatives[0].text for event in own.of(Partial)} == {"七", "七二"}
    assert own.text == "七二"
    heard = sounds.transcribe(engine, samples, asking("tenant", mode))
    assert {event.alternatives[0].text for event in heard.of(Partial)} == {"一", "一二"}
    assert heard.text == "一二"


@pytest.mark.parametrize("gain_limit", [1.5, 0.1])
def test_scores_have_what_the_models_say_once_and_whole(make_alike, sounds, gain_limit):
    engine = make_alike(gain_limit=gain_limit)
    samples = sounds.speech("一二一")
    before = scores(sounds.transcribe(engine, samples, asking_for_all()))
    after = scores(sounds.transcribe(engine, samples, asking_for_all("tenant")))
    both = before.keys() & after.keys()
    assert {"一二一", "一二七", "七二一"} <= both
    for text in both:
        wanted = before[text] + SCALE * (cost(SMALL, text) - cost(TENANT, text))
        assert after[text] == pytest.approx(wanted, abs=0.01)
    assert list(after.values()) == sorted(after.values(), reverse=True)


@pytest.mark.parametrize("mix", [MIX, WITH_THE_GRAPHS_OWN])
def test_scores_are_those_of_finals_that_models_have_ranked(make_alike, sounds, mix):
    samples = sounds.speech("一二七")
    searching, ranking = make_alike(), make_alike(in_search=False)
    searched = scores(sounds.transcribe(searching, samples, asking_for_all(mix)))
    ranked = scores(sounds.transcribe(ranking, samples, asking_for_all(mix)))
    assert searching.counters.search.lm_searched_finals == 1
    both = searched.keys() & ranked.keys()
    assert len(both) >= 4
    for text in both:
        assert searched[text] == pytest.approx(ranked[text], abs=0.01)


def test_what_the_search_has_asked_ranks_nothing_and_is_counted(engine, sounds, monkeypatch):
    for name in ("of", "paths"):
        monkeypatch.setattr(ListPrices, name, lambda *_, **__: pytest.fail("priced again"))
    sounds.transcribe(engine, sounds.speech("一"), asking("tenant"))
    counts = engine.counters.search
    assert (counts.lm_finals, counts.lm_words, counts.lm_searched_finals) == (0, 0, 1)
    sounds.transcribe(engine, sounds.speech("一"), asking())
    assert engine.counters.search.lm_searched_finals == 1


def test_a_models_weight_is_the_streams(engine, sounds):
    samples = sounds.speech("一")
    weights = (0.0, SCALE, 1.0)
    asked = [asking_for_all("tenant", lm_weight=weight) for weight in weights]
    heard = [sounds.transcribe(engine, samples, config) for config in asked]
    gaps = [scores(each)["一"] - scores(each)["七"] for each in heard]
    assert gaps == pytest.approx([weight * (TENANT["七"] - TENANT["一"]) for weight in weights])


def test_streams_in_any_company_hear_what_they_hear_alone(engine, sounds):
    asked = [asking(lm) for lm in (None, "tenant", MIX, "other", "tenant", None)]
    spoken = [
        sounds.speech(text) for text in ("一二", "二七一", "一二一二", "七", "一二", "一二七")
    ]
    alone = [
        told(sounds.transcribe(engine, samples, config))
        for config, samples in zip(asked, spoken, strict=True)
    ]
    listeners = together(engine, asked, spoken, sounds)
    assert list(map(told, listeners)) == alone
    assert listeners[0].text == "七二"
    assert listeners[4].text == "一二"


@pytest.mark.parametrize("end", ["finish", "cancel"])
def test_the_next_user_of_a_slot_hears_nothing_of_its_models(make_alike, lms, sounds, end):
    engine = make_alike(max_streams=1)
    samples = sounds.speech("一二")
    before = told(sounds.transcribe(engine, samples, asking()))
    stream, listener = speaking(engine, asking("tenant"), samples, sounds)
    getattr(stream, end)()
    listener.wait_for_last()
    assert engine.stats.open_lms == 0
    assert not is_mapped(lms / "tenant.lm")
    assert told(sounds.transcribe(engine, samples, asking())) == before


def test_a_slot_that_nobody_configures_anew_has_no_models(make_alike, sounds, monkeypatch):
    """Whatever comes next, the search has let go of them when their stream is over."""
    engine = make_alike(max_streams=1)
    asked: list[object] = []
    usual = WfstDecoder._set_lm

    def set_lm(decoder, stream):
        usual(decoder, stream)
        asked.append(decoder._search._lms[stream.slot])

    monkeypatch.setattr(WfstDecoder, "_set_lm", set_lm)
    sounds.transcribe(engine, sounds.speech("一"), asking("tenant"))
    assert asked[0] is not None
    assert asked[-1] is None


def test_a_change_counts_at_once_where_nothing_was_said_yet(engine, sounds):
    listener = sounds.Listener()
    stream = engine.open(asking(), listener)
    stream.push(sounds.noise(0.5))
    stream.configure([], named("tenant"))
    stream.push(sounds.speech("一二"))
    stream.finish()
    listener.wait_for_last()
    assert {event.alternatives[0].text for event in listener.of(Partial)} == {"一", "一二"}


def test_and_else_from_the_next_segment_on(engine, sounds):
    stream, listener = speaking(engine, asking(), sounds.speech("一一"), sounds)
    stream.configure([], named("tenant"))
    stream.push(sounds.speech("一_一二"))
    listener.wait_for(lambda event: isinstance(event, Partial) and event.start_s > 1.0)
    stream.configure([], named(None))
    stream.push(sounds.speech("一_一"))
    stream.finish()
    listener.wait_for_last()
    assert [final.alternatives[0].text for final in listener.finals] == ["七七七", "一二一", "七"]
    assert engine.counters.search.lm_searched_finals == 1
    assert engine.stats.open_lms == 0


def test_a_change_to_no_graph_leaves_no_models_in_the_slot(engine, lms, sounds):
    stream, listener = speaking(
        engine, asking("tenant", "attention_rescoring"), sounds.speech("一一"), sounds
    )
    assert is_mapped(lms / "tenant.lm")
    stream.configure([], named("off"))
    listener.wait_for(lambda event: isinstance(event, Configured))
    assert engine._lms.count == 0
    assert not is_mapped(lms / "tenant.lm")
    stream.configure([], named("on"))
    stream.push(sounds.speech("一"))
    stream.finish()
    listener.wait_for_last()
    assert engine.counters.search.lm_searched_finals == 0


def test_models_of_a_change_that_is_refused_are_given_back(engine, lms, sounds):
    """Where the config is refused with its phrases, and without any."""
    listener = sounds.Listener()
    stream = engine.open(asking(), listener)
    for boosts in ([Boost("一")], []):
        stream.configure(boosts, named("other", max_active=100_000))
    stream.push(sounds.speech("一"))
    stream.finish()
    listener.wait_for_last()
    refused = listener.of(NotConfigured)
    assert ["max_active is 100000" in each.reason for each in refused] == [True, True]
    assert listener.text == "七"
    assert engine._lms.count == 0


def test_an_unknown_or_torn_model_is_named_and_the_stream_goes_on_with_its_own(engine, lms, sounds):
    (lms / "torn.lm").write_bytes((lms / "tenant.lm").read_bytes()[:-100])
    listener = sounds.Listener()
    stream = engine.open(asking("tenant"), listener)
    stream.push(sounds.speech("一"))
    for name in ("law", "torn"):
        stream.configure([], named(name))
    stream.push(sounds.speech("二"))
    stream.finish()
    listener.wait_for_last()
    unknown, torn = listener.of(NotConfigured)
    assert unknown.reason.startswith("lm=law: there is no such model here")
    assert torn.reason.startswith("lm=torn: torn.lm")
    assert listener.text == "一二"
    assert engine.stats.failed_streams == engine.stats.open_lms == 0


def test_a_removed_or_replaced_model_serves_its_streams_to_their_end(engine, lms, sounds):
    stream, listener = speaking(engine, asking("tenant"), sounds.speech("一一"), sounds)
    write_lm(lms / "new.lm", SMALL).rename(lms / "tenant.lm")
    assert sounds.transcribe(engine, sounds.speech("一"), asking("tenant")).text == "七"
    (lms / "tenant.lm").unlink()
    stream.configure([])
    stream.push(sounds.speech("二"))
    stream.finish()
    listener.wait_for_last()
    assert len(listener.of(Configured)) == 1
    assert listener.text == "一一二"


def test_a_model_of_too_high_an_order_ranks_finals_and_says_so(engine, lms, sounds):
    write_lm(lms / "long.lm", {**TENANT, **{" ".join("一" * n): 0.25 for n in range(2, 6)}})
    assert {each.name: each.searched for each in engine.language_models()} == {
        "long": False,
        "other": True,
        "tenant": True,
    }
    heard = sounds.transcribe(engine, sounds.speech("一"), asking("long"))
    assert {event.alternatives[0].text for event in heard.of(Partial)} == {"七"}
    assert heard.text == "一"
    assert engine.counters.search.lm_finals == 1
    assert engine.counters.search.lm_searched_finals == 0


def test_a_segment_that_is_heard_anew_keeps_its_models(engine, sounds):
    """Boosts that change have the frames searched once more."""
    stream, listener = speaking(engine, asking("tenant"), sounds.speech("一一"), sounds)
    stream.configure([])
    stream.push(sounds.speech("一_一"))
    stream.finish()
    listener.wait_for_last()
    assert [final.alternatives[0].text for final in listener.finals] == ["一一一", "一"]


def test_who_hears_a_result_finds_it_counted(engine, sounds):
    counted = []

    def sink(event):
        if isinstance(event, Partial | Final):
            now = engine.counters
            counted.append((type(event), now.partials, now.finals, now.search.lm_searched_finals))
        heard(event)

    heard = sounds.Listener()
    stream = engine.open(asking("tenant"), sink)
    sounds.push_all(stream, sounds.speech("一二"), None, heard)
    stream.finish()
    heard.wait_for_last()
    partials = [(Partial, n, 0, 0) for n in range(1, len(heard.of(Partial)) + 1)]
    assert counted == [*partials, (Final, len(partials), 1, 1)]
