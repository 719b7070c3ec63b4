"""Streams searched in a decoding graph, by the model that hears tones."""

import copy
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.streaming.boosting.word_boosting import compile_word_boosts
from earshot.streaming.errors import InvalidStreamConfig, UnusableGraph
from earshot.streaming.events import (
    Closed,
    Configured,
    Failed,
    NotConfigured,
    Partial,
    UnboostablePhrase,
)
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig

GRAPH = StreamConfig(mode="ctc_wfst_beam_search")
PREFIX = StreamConfig(mode="ctc_prefix_beam_search")
QUIET = GraphOptions(lm_weight=0.0)
WITHOUT = StreamConfig(graph=GraphOptions(lm=False), endpoint=EndpointConfig(silence_ms=None))


def asking(mode="ctc_wfst_beam_search", silence_ms=1000, max_utterance_ms=20000, **options):
    endpoint = EndpointConfig(silence_ms=silence_ms, max_utterance_ms=max_utterance_ms)
    return StreamConfig(mode=mode, endpoint=endpoint, **options)


def words_of(heard):
    return [word for final in heard.finals for word in final.alternatives[0].words]


def said(event) -> str | None:
    """The text of a partial."""
    return event.alternatives[0].text if isinstance(event, Partial) else None


def at(listener, event) -> int:
    """The place of this event, not of one that is equal to it."""
    return next(place for place, each in enumerate(listener.events) if each is event)


def answer_to(stream, listener, graph):
    """What the engine says to a wish for the graph, whatever else it tells meanwhile."""
    answers = (Configured, NotConfigured)
    before = sum(map(len, map(listener.of, answers)))
    stream.configure([], graph)
    listener.wait_for(lambda _: sum(map(len, map(listener.of, answers))) > before)
    return [event for event in listener.events if isinstance(event, answers)][before]


@pytest.fixture
def engine(graph_engine):
    return graph_engine


def test_words_of_the_graph_come_out_with_times_and_confidences(engine, sounds):
    samples = sounds.speech("一三四 二_五")
    heard = sounds.transcribe(engine, samples, GRAPH)
    assert [final.alternatives[0].text for final in heard.finals] == ["一三四二", "五"]
    assert [word.text for word in words_of(heard)] == ["一", "三四", "二", "五"]
    greedy = words_of(sounds.transcribe(engine, samples, StreamConfig(mode="ctc_greedy_search")))
    starts = [word.start_s for word in greedy if word.text != "四"]
    ends = [word.end_s for word in greedy if word.text != "三"]
    np.testing.assert_allclose([word.start_s for word in words_of(heard)], starts, atol=0.05)
    np.testing.assert_allclose([word.end_s for word in words_of(heard)], ends, atol=0.05)
    assert all(0.5 < word.confidence <= 1.0 for word in words_of(heard))


def test_the_language_model_counts_as_much_as_a_stream_says(engine, sounds):
    samples = sounds.speech("一七二")
    for weight, text in ((0.0, "一七二"), (1.0, "一二")):
        config = asking(graph=GraphOptions(lm_weight=weight))
        assert sounds.transcribe(engine, samples, config).text == text


@pytest.mark.parametrize(("recommended", "text"), [(0.0, "一七二"), (1.0, "一二")])
def test_or_else_as_much_as_the_model_recommends(
    make_graph_engine, tone_model, sounds, recommended, text
):
    loaded = copy.deepcopy(tone_model)
    decoding = loaded.model.config.decoding
    loaded.model.config.decoding = replace(decoding, lm_weight=recommended)
    engine = make_graph_engine(loaded, graph_search=GraphSearchConfig(max_active=200))
    assert sounds.transcribe(engine, sounds.speech("一七二"), GRAPH).text == text


def test_a_stream_without_the_graph_is_that_of_an_engine_without_one(engine, tone_engine, sounds):
    samples = sounds.speech("一七九_二")
    off = StreamConfig(mode="ctc_prefix_beam_search", graph=GraphOptions(lm=False))
    for config in (PREFIX, off, StreamConfig(mode="ctc_greedy_search")):
        told = sounds.transcribe(engine, samples, config).events
        assert told == sounds.transcribe(tone_engine, samples, config).events
        assert told[0].alternatives[0].text.startswith("一")


def test_cutting_the_pushes_elsewhere_changes_nothing(engine, sounds):
    samples = sounds.speech("一二三_四五 六八")
    whole = sounds.transcribe(engine, samples, asking(silence_ms=400))
    for seed in range(3):
        sizes = np.random.default_rng(seed).integers(0, 3000, size=1000)
        cut = sounds.transcribe(engine, samples, asking(silence_ms=400), iter(sizes))
        assert cut.events == whole.events


def test_partials_grow_and_keep_what_was_stable(engine, sounds):
    heard = sounds.transcribe(engine, sounds.speech("一二五六八一二五"), GRAPH)
    final_words = [word.text for word in words_of(heard)]
    partials = heard.of(Partial)
    assert len(partials) >= 5
    for partial in partials:
        stable = [word.text for word in partial.alternatives[0].words][: partial.stable_words]
        assert stable == final_words[: partial.stable_words]
    assert partials[-1].stable_words > 0
    counts = [partial.stable_words for partial in partials]
    assert counts == sorted(counts)


def test_speech_without_a_pause_is_cut_between_words(engine, sounds):
    text = "一二五六八一二五六八" * 3
    config = asking(silence_ms=None, max_utterance_ms=3000)
    heard = sounds.transcribe(engine, sounds.speech(text), config)
    assert heard.text == text
    assert "max_utterance" in [final.cause for final in heard.finals]
    times = [time for word in words_of(heard) for time in (word.start_s, word.end_s)]
    assert times == sorted(times)


def test_what_the_second_pass_may_change_is_not_called_stable(engine, sounds, monkeypatch):
    """The list that it chooses from holds another first word all along."""
    whole = WfstSearch.nbest

    def doubtful(self, slots, n, *, finalize):
        lists = whole(self, slots, n, finalize=finalize)
        return [
            [best, replace(best, words=(2, *best.words[1:]))] if best.words else [best]
            for best, *_ in lists
        ]

    monkeypatch.setattr(WfstSearch, "nbest", doubtful)
    for mode, some in (("attention_rescoring", False), ("ctc_wfst_beam_search", True)):
        listener = sounds.Listener()
        stream = engine.open(asking(mode, silence_ms=None), listener)
        sounds.push_all(stream, sounds.speech("一二五六八一二五六八一二"))
        listener.wait_for(lambda event: (said(event) or "").startswith("一二五六八一二五六"))
        stream.cancel()
        listener.wait_for_last()
        assert any(each.stable_words for each in listener.of(Partial)) == some


def test_alternatives_are_distinct_texts_best_first(engine, sounds):
    heard = sounds.transcribe(engine, sounds.speech("一 三四"), asking(alternatives=3, graph=QUIET))
    [final] = heard.finals
    texts = [each.text for each in final.alternatives]
    assert texts[0] == "一三四"
    assert len(texts) == len(set(texts))
    scores = [each.score for each in final.alternatives]
    assert scores == sorted(scores, reverse=True)


def test_a_word_from_outside_is_heard_once_it_is_boosted(engine, sounds):
    samples = sounds.speech("一九二")
    assert "九" not in sounds.transcribe(engine, samples, GRAPH).text
    heard = sounds.transcribe(engine, samples, asking(boosts=(Boost("九二", 4.0),)))
    assert heard.text == "一九二"
    assert [(word.text, word.boosted) for word in words_of(heard)] == [
        ("一", False),
        ("九二", True),
    ]
    assert heard.of(Partial)[-1].alternatives[0].words[-1].boosted


def test_boosts_given_later_count_from_the_segments_start_on(engine, sounds):
    listener = sounds.Listener()
    stream = engine.open(GRAPH, listener)
    sounds.push_all(stream, sounds.speech("一九二"))
    listener.wait_for(lambda event: isinstance(event, Partial))
    stream.configure([Boost("九", 4.0), Boost("x")])
    stream.finish()
    listener.wait_for_last()
    [configured] = listener.of(Configured)
    refused, limited = configured.warnings
    assert isinstance(refused, UnboostablePhrase)
    assert (refused.phrase, limited.phrase, limited.weight) == ("x", "九", 4.0)
    assert limited.effective_weight < 4.0
    assert listener.text == "一九二"


def test_a_boost_that_earns_nothing_is_named_and_a_word_from_outside_is_heard(engine, sounds):
    config = asking(graph=QUIET, boosts=(Boost("九", 4.0),))
    heard = sounds.transcribe(engine, sounds.speech("一九二"), config)
    assert [warning.phrase for warning in heard.of(UnboostablePhrase)] == ["九"]
    assert heard.text == "一九二"
    assert not any(word.boosted for word in words_of(heard))


def test_what_is_configured_builds_on_what_was_asked_before(engine, sounds):
    """Unless that is refused; the engine has taken neither when the next is asked."""
    listener = sounds.Listener()
    stream = engine.open(asking(graph=GraphOptions(lm_weight=1.0)), listener)
    with engine._registry.lock:
        stream.configure([], QUIET)
        stream.configure([], GraphOptions(max_active=201))
        stream.configure([Boost("九", 4.0)])
    sounds.push_all(stream, sounds.speech("一七二"))
    stream.finish()
    listener.wait_for_last()
    answers = [type(event) for event in listener.events[:3]]
    assert answers == [Configured, NotConfigured, Configured]
    assert listener.text == "一七二"


def test_another_scale_of_the_graph_limits_boosts_anew(engine, sounds, monkeypatch):
    scales = []

    def noting(boosts, words, options, *others):
        scales.append(options.graph_scale)
        return compile_word_boosts(boosts, words, options, *others)

    monkeypatch.setattr("earshot.streaming.search.graph_search.compile_word_boosts", noting)
    listener = sounds.Listener()
    stream = engine.open(asking(boosts=(Boost("九"),)), listener)
    stream.configure([Boost("九")], GraphOptions(lm_weight=0.5))
    stream.finish()
    listener.wait_for_last()
    assert scales == [1.0, 0.5]


def test_a_stream_may_leave_the_graph_and_come_back(engine, sounds):
    """Before an answer there may be partials still: of audio that came before the question."""
    listener = sounds.Listener()
    stream = engine.open(asking("attention_rescoring", silence_ms=None), listener)
    sounds.push_all(stream, sounds.speech("一七二", gap_s=0.3))
    listener.wait_for(lambda event: said(event) == "一二")
    for graph, text in (
        (GraphOptions(lm=False), "一七二"),
        (GraphOptions(), "一二"),
        (GraphOptions(lm_weight=0.0), "一七二"),
        (GraphOptions(lm=False, beam=9.0), None),
        (GraphOptions(max_active=201), None),
    ):
        answer = answer_to(stream, listener, graph)
        sounds.push_all(stream, sounds.noise(0.8))
        assert isinstance(answer, NotConfigured if text is None else Configured), answer
        since = at(listener, answer)
        if text is not None:
            listener.wait_for(
                lambda event, since=since, text=text: (
                    at(listener, event) > since and said(event) == text
                )
            )
    stream.cancel()
    listener.wait_for_last()


@pytest.mark.parametrize(
    ("config", "later", "boosts", "first"),
    [
        (asking(silence_ms=None), QUIET, [], "二"),
        (WITHOUT, GraphOptions(lm=True, lm_weight=1.0), [], "七"),
        (asking(PREFIX.mode, silence_ms=None), None, [Boost("七", -20.0)], "七"),
    ],
    ids=["in the graph", "into the graph", "without it"],
)
def test_words_once_called_stable_outlive_another_search(
    engine, sounds, config, later, boosts, first
):
    """The rare word is the segment's first, or is not heard: which of both has been told stays."""
    listener = sounds.Listener()
    stream = engine.open(config, listener)
    sounds.push_all(stream, sounds.speech("七二五六八_五_六"))
    told = listener.wait_for(lambda event: getattr(event, "stable_words", 0) > 0)
    stream.configure(boosts, later)
    sounds.push_all(stream, sounds.speech("五_"))
    listener.wait_for(lambda event: (said(event) or "").endswith("六五"))
    stream.cancel()
    listener.wait_for_last()
    assert listener.of(Configured)
    after = listener.of(Partial)[listener.of(Partial).index(told) :]
    assert {said(event)[0] for event in after} == {first}
    counts = [event.stable_words for event in after]
    assert counts == sorted(counts)
    assert [type(event) for event in listener.events].count(Closed) == 1


@pytest.mark.parametrize(
    ("config", "boosts", "later", "first"),
    [
        (asking(silence_ms=None), [], QUIET, "二"),
        (asking(PREFIX.mode, silence_ms=None), [Boost("七", -20.0)], None, "七"),
    ],
    ids=["in the graph", "without it"],
)
def test_a_final_has_the_words_that_were_called_stable_before_another_search(
    engine, sounds, config, boosts, later, first
):
    listener = sounds.Listener()
    stream = engine.open(config, listener)
    sounds.push_all(stream, sounds.speech("七二五六八_五_六"))
    listener.wait_for(lambda event: getattr(event, "stable_words", 0) > 0)
    stream.configure(boosts, later)
    stream.finish()
    listener.wait_for_last()
    assert listener.text[0] == first
    assert listener.text.endswith("五六八五六")
    times = [time for word in words_of(listener) for time in (word.start_s, word.end_s)]
    assert times == sorted(times)


def test_phrases_that_do_not_fit_are_named(make_graph_engine, sounds, monkeypatch):
    monkeypatch.setattr("earshot.streaming.boosting.boost_capacity.BOOST_STATES_PER_STREAM", 0)
    heard = sounds.transcribe(
        make_graph_engine(), sounds.speech("一二"), asking(boosts=(Boost("九"), Boost("一")))
    )
    assert [warning.phrase for warning in heard.of(UnboostablePhrase)] == ["九", "一"]
    assert heard.text == "一二"


def test_an_explicit_graph_names_the_words_that_it_cannot_take(make_graph_engine, sounds):
    engine = make_graph_engine(topology="explicit")
    heard = sounds.transcribe(engine, sounds.noise(0.5), asking(boosts=(Boost("九"), Boost("一"))))
    assert [warning.phrase for warning in heard.of(UnboostablePhrase)] == ["九"]


def test_searches_of_both_kinds_share_slots_and_leak_nothing(make_graph_engine, sounds):
    engine = make_graph_engine()
    text = "一二五"
    configs = [asking(boosts=(Boost("九", 4.0),)), PREFIX, GRAPH, asking(graph=QUIET)]
    for config in configs * 3:
        listener = sounds.Listener()
        stream = engine.open(config, listener)
        sounds.push_all(stream, sounds.speech("一二九七"))
        listener.wait_for(lambda event: getattr(event, "alternatives", None))
        stream.cancel()
        listener.wait_for_last()
        assert sounds.transcribe(engine, sounds.noise(2.0), GRAPH).text == ""
        assert sounds.transcribe(engine, sounds.speech(text), GRAPH).text == text


def test_a_stream_that_breaks_leaves_its_company_alone(make_graph_engine, tone_model, sounds):
    loaded = copy.deepcopy(tone_model)
    whole = loaded.model.encoder.forward_lanes

    def broken(feats, out_lengths, state):
        encoded, state = whole(feats, out_lengths, state)
        encoded[feats.flatten(1).max(dim=1).values > 31.0] = math.nan
        return encoded, state

    loaded.model.encoder.forward_lanes = broken
    engine = make_graph_engine(loaded)
    listeners = [sounds.Listener() for _ in range(3)]
    streams = [engine.open(GRAPH, listener) for listener in listeners]
    for stream in streams:
        sounds.push_all(stream, sounds.speech("一二"))
    streams[1].push(np.float32(12.0) * sounds.tone("九", 0.4))
    for stream, digits in itertools.product(streams, "五六"):
        sounds.push_all(stream, sounds.speech(digits))
    for stream in streams:
        stream.finish()
    assert [type(each.wait_for_last()) for each in listeners] == [Closed, Failed, Closed]
    assert [listeners[0].text, listeners[2].text] == ["一二五六"] * 2


def test_a_graph_of_other_units_is_refused(digit_loop, make_engine, tone_model):
    with pytest.raises(UnusableGraph, match="built for 99 units; the model has 12"):
        make_engine(tone_model, graph=digit_loop(99))
    with pytest.raises(UnusableGraph, match="its blank is unit 1, the model's 0"):
        make_engine(tone_model, graph=digit_loop(12, blank_id=1))


def test_what_a_stream_cannot_have_is_refused_before_it_takes_a_slot(engine, tone_engine):
    for other, config in (
        (tone_engine, GRAPH),
        (engine, asking(graph=GraphOptions(max_active=201))),
    ):
        with pytest.raises(InvalidStreamConfig):
            other.open(config, lambda event: None)
        assert other.stats.live_streams == 0


def test_the_description_tells_of_the_graph(engine, tone_engine):
    assert (engine.model.parts["graph"].words, engine.model.parts["graph"].new_words) == (9, True)
    assert "ctc_wfst_beam_search" in engine.model.modes
    assert tone_engine.model.parts["graph"] is None
    assert "ctc_wfst_beam_search" not in tone_engine.model.modes
