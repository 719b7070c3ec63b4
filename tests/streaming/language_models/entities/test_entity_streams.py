"""Streams whose models have classes: prices of members, changes, and company."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from searching import SCALE, asking, named, scores, together, told
from tiny_lms import TENANT, write_lm

from earshot.streaming.entities import Entities, read_entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.events import Partial
from earshot.streaming.stream_config import StreamConfig

CALLS = {**TENANT, "<digit>": 1.5, "<town>": 2.0, "一 <digit>": 0.25, "<digit> 二": 0.125}
MEMBERS = {"digit": {"三": 3, "五": 1}, "town": ["四", "二"]}


@pytest.fixture
def lms(tmp_path) -> Path:
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "tenant.lm", TENANT)
    write_lm(folder / "calls.lm", CALLS)
    return folder


def asking_with(
    members: object = None, lm: str = "calls", alternatives: int = 1, **options
) -> StreamConfig:
    entities = Entities() if members is None else read_entities(members)
    graph = named(lm, entities=entities, **options)
    mode = "ctc_wfst_beam_search"
    return StreamConfig(mode=mode, graph=graph, alternatives=alternatives, interim_results=False)


@pytest.mark.parametrize("lm", ["calls", "calls:0.5,on:0.5"])
def test_a_member_costs_the_same_ranked_and_in_the_search(make_alike, sounds, lm):
    samples = sounds.speech("一三二")
    asked = asking_with(MEMBERS, lm, alternatives=100)
    found = [
        scores(sounds.transcribe(engine, samples, asked))
        for engine in (make_alike(in_search=False), make_alike(gain_limit=math.inf))
    ]
    both = found[0].keys() & found[1].keys()
    assert "一三二" in both
    assert len(both) > 1
    for text in both:
        assert found[0][text] == pytest.approx(found[1][text], abs=1e-5)


def test_a_members_score_is_that_of_its_class_and_its_share(make_alike, sounds):
    engine, samples = make_alike(), sounds.speech("一三二")
    heard = [
        scores(sounds.transcribe(engine, samples, asking_with({"digit": each}, alternatives=100)))
        for each in (["三"], {"三": 1, "五": 3})
    ]
    gap = heard[0]["一三二"] - heard[1]["一三二"]
    assert gap == pytest.approx(SCALE * math.log(4), abs=SCALE / 1024)


def test_of_several_words_it_costs_as_one_word_of_its_class(make_alike, sounds):
    engine, samples = make_alike(), sounds.speech("一三四二")
    heard = [
        scores(sounds.transcribe(engine, samples, asking_with({"digit": each}, alternatives=100)))
        for each in (["三 四"], ["三四"], {"三 四": 1, "五": 3})
    ]
    assert heard[0]["一三四二"] == heard[1]["一三四二"]
    gap = heard[0]["一三四二"] - heard[2]["一三四二"]
    assert gap == pytest.approx(SCALE * math.log(4), abs=SCALE / 1024)


@pytest.mark.parametrize("in_search", [False, True])
def test_each_of_its_words_is_told_where_it_is_said(make_alike, sounds, in_search):
    engine, samples = make_alike(in_search=in_search), sounds.speech("一三四五二")
    heard = sounds.transcribe(engine, samples, asking_with({"digit": ["三 四 五"]}))
    words = heard.finals[0].alternatives[0].words
    assert [word.text for word in words] == list("一三四五二")
    by_itself = asking_with({"digit": ["三", "四", "五"]})
    alone = sounds.transcribe(engine, samples, by_itself).finals[0].alternatives[0].words
    assert [(word.start_s, word.end_s) for word in words] == [
        (word.start_s, word.end_s) for word in alone
    ]
    assert len({word.confidence for word in words[1:4]}) == 1


def test_it_is_stable_as_a_whole(make_alike, sounds):
    samples = sounds.speech("一三四五二一二一")
    asked = replace(asking_with({"digit": ["三 四 五"]}), interim_results=True)
    heard = sounds.transcribe(make_alike(), samples, asked)
    assert heard.text == "一三四五二一二一"
    stable = {partial.stable_words for partial in heard.of(Partial)}
    assert stable.isdisjoint({2, 3})
    assert max(stable) >= 4


@pytest.mark.parametrize("in_search", [False, True])
def test_streams_of_one_model_hear_no_members_of_others(make_alike, sounds, in_search):
    engine, samples = make_alike(in_search=in_search), sounds.speech("一三二")
    asked = [
        asking_with(None),
        asking_with({"digit": ["三"]}),
        asking_with({"digit": ["五"]}),
        asking_with({"town": ["三"], "digit": ["五", "三", "五 三"]}),
        asking_with({"digit": ["三 二"]}),
        asking(),
    ]
    alone = [told(sounds.transcribe(engine, samples, config)) for config in asked]
    listeners = together(engine, asked, [samples] * len(asked), sounds)
    assert [told(each) for each in listeners] == alone
    assert [listener.text == "一三二" for listener in listeners] == [
        False,
        True,
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("in_search", [False, True])
def test_members_come_and_go_with_their_models_in_mid_speech(make_alike, sounds, in_search):
    engine, listener = make_alike(in_search=in_search), sounds.Listener()
    stream = engine.open(asking_with(None, "tenant"), listener)
    stream.push(sounds.speech("一三二"))
    members = read_entities({"digit": ["三"]})
    stream.configure([], named("calls", entities=members))
    stream.finalize()
    stream.push(sounds.speech("一三二"))
    stream.finalize()
    stream.configure([], named("tenant"))
    stream.push(sounds.speech("一三二"))
    stream.finish()
    listener.wait_for_last()
    texts = [final.alternatives[0].text for final in listener.finals]
    assert texts[1] == "一三二"
    assert "三" not in texts[2]


def test_classes_that_a_model_lacks_are_refused_before_anything_is_opened(make_alike):
    engine = make_alike()
    with pytest.raises(
        InvalidStreamConfig, match="lm=tenant has no class digit; its classes: none"
    ):
        engine.open(asking_with({"digit": ["三"]}, "tenant"), lambda event: None)
    assert engine.stats.open_lms == 0
