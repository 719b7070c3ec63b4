"""Streams of a U2 model with a transducer: modes, endpoints, boosts, and what others refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from company import listeners_in_company
from tone_transducer import KINDS, with_transducer

from earshot.language.ngrams.arpa import read_arpa
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.engine.engine import Engine
from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.events import Configured, Partial
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.parts.transducer_lm import LmFile
from earshot.streaming.stream_config import (
    Boost,
    EndpointConfig,
    StreamConfig,
    StreamPriority,
)

MODES = ["transducer_greedy_search", "transducer_beam_search"]
SPOKEN = "一二三_四五 六七八九"
ROOM = {"chunk_size": 8, "num_left_chunks": 2, "max_streams": 8}


@pytest.fixture(params=KINDS)
def spoken_model(request: pytest.FixtureRequest, tone_model: LoadedModel) -> LoadedModel:
    return with_transducer(tone_model, request.param)


@pytest.fixture
def engine(make_engine: Callable[..., Engine], spoken_model: LoadedModel) -> Engine:
    return make_engine(spoken_model, **ROOM)


def config(mode: str, *boosts: Boost, **endpoint: int | None) -> StreamConfig:
    return StreamConfig(mode=mode, boosts=boosts, endpoint=EndpointConfig(**endpoint))  # type: ignore[arg-type]


def chord(sounds: Any, seconds: float = 0.16) -> np.ndarray:
    """Two tones at once, of which 八 is a little louder."""
    both = sounds.tone("五", seconds) + sounds.tone("八", seconds)
    return (0.5 * both).astype(np.float32)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("priority", list(StreamPriority))
def test_a_pause_ends_a_segment_and_the_next_one_goes_on(
    engine: Engine, sounds: Any, mode: str, priority: StreamPriority
) -> None:
    heard = sounds.transcribe(engine, sounds.speech(SPOKEN), config(mode), priority=priority)
    assert [final.alternatives[0].text for final in heard.finals] == ["一二三", "四五六七八九"]
    assert [final.cause for final in heard.finals] == ["endpoint", "end"]


@pytest.mark.parametrize("mode", MODES)
def test_speech_without_a_pause_is_cut_between_words(
    engine: Engine, sounds: Any, mode: str
) -> None:
    text = "一二三四五六七八九" * 4
    asked = config(mode, silence_ms=None, max_utterance_ms=3000)
    # A digit sounds on when it has been found, beyond the middle between two of them.
    heard = sounds.transcribe(engine, sounds.speech(text, tone_s=0.24, gap_s=0.12), asked)
    assert heard.text == text
    assert [final.cause for final in heard.finals[:-1]] == ["max_utterance"] * 4


@pytest.mark.parametrize("mode", MODES)
def test_words_have_times_and_confidences(engine: Engine, sounds: Any, mode: str) -> None:
    heard = sounds.transcribe(engine, sounds.speech("一_二"), config(mode))
    [[first], [second]] = [final.alternatives[0].words for final in heard.finals]
    assert 0.08 <= first.start_s < first.end_s <= 0.28  # the tone sounds from 0.08 to 0.24 s
    assert 2.40 <= second.start_s < second.end_s <= 2.60
    assert min(first.confidence, second.confidence) > 0.99


@pytest.mark.parametrize("mode", MODES)
def test_the_second_pass_has_no_say(engine: Engine, sounds: Any, mode: str, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the attention decoder was asked")

    monkeypatch.setattr(engine._recognizer._second_pass[0], "_score", refuse)  # type: ignore[attr-defined]
    assert sounds.transcribe(engine, sounds.speech("一二"), config(mode)).text == "一二"


@pytest.mark.parametrize("mode", MODES)
def test_partials_keep_what_was_stable(engine: Engine, sounds: Any, mode: str) -> None:
    heard = sounds.transcribe(engine, sounds.speech("一二三四五六七"), config(mode))
    partials, words = heard.of(Partial), [*"一二三四五六七"]
    assert len(partials) >= 5
    for partial in partials:
        told = [word.text for word in partial.alternatives[0].words]
        assert told[: partial.stable_words] == words[: partial.stable_words]
    assert partials[-1].stable_words > 2


@pytest.mark.parametrize("mode", MODES)
def test_the_text_depends_neither_on_company_nor_on_how_it_was_pushed(
    engine: Engine, sounds: Any, mode: str
) -> None:
    asked = config(mode, silence_ms=400)
    clips = [sounds.speech(text) for text in (SPOKEN, "九八_七", "三 四__五", "一")]
    alone = [sounds.transcribe(engine, clip, asked) for clip in clips]
    together = listeners_in_company(engine, sounds, clips, asked)
    for one, other in zip(alone, together, strict=True):
        assert [final.alternatives for final in one.finals] == [
            final.alternatives for final in other.finals
        ]
    sizes = iter(np.random.default_rng(1).integers(1, 3000, size=1000))
    assert sounds.transcribe(engine, clips[0], asked, sizes).events == alone[0].events


@pytest.mark.parametrize("mode", MODES)
def test_a_boost_chooses_among_labels_of_its_own_stream(
    engine: Engine, sounds: Any, mode: str
) -> None:
    clip = np.concatenate((sounds.noise(0.2), chord(sounds)))
    plain = sounds.transcribe(engine, clip, config(mode))
    boosted = sounds.transcribe(engine, clip, config(mode, Boost("五", 3.0)))
    assert (plain.text[0], boosted.text[0]) == ("八", "五")
    again = sounds.transcribe(engine, clip, config(mode))
    assert again.text == plain.text


def test_a_beam_has_alternatives_of_different_texts(engine: Engine, sounds: Any) -> None:
    clip = chord(sounds, 0.3)
    asked = StreamConfig(mode="transducer_beam_search", alternatives=3)
    [final] = sounds.transcribe(engine, clip, asked).finals
    texts = [each.text for each in final.alternatives]
    assert 1 < len(texts) == len(set(texts)) <= 3
    asked = StreamConfig(mode="transducer_greedy_search", alternatives=3)
    [final] = sounds.transcribe(engine, clip, asked).finals
    assert len(final.alternatives) == 1


@pytest.mark.parametrize("mode", MODES)
def test_boosts_change_on_the_way(engine: Engine, sounds: Any, mode: str) -> None:
    heard = sounds.Listener()
    stream = engine.open(config(mode), heard)
    both = chord(sounds)
    clip = np.concatenate((both, sounds.noise(2.0)))
    sounds.push_all(stream, clip)
    heard.wait_for(lambda _: heard.finals)
    stream.configure([Boost("五", 3.0), Boost("x")])
    sounds.push_all(stream, clip)
    stream.finish()
    heard.wait_for_last()
    texts = [final.alternatives[0].text for final in heard.finals]
    assert [text[0] for text in texts if text] == ["八", "五"]
    [answer] = heard.of(Configured)
    assert [each.phrase for each in answer.warnings] == ["x"]


def test_a_model_tells_its_modes_and_heads(
    engine: Engine, spoken_model: LoadedModel, tone_engine: Engine
) -> None:
    told = engine.model
    assert told.modes == (*tone_engine.model.modes, *MODES)
    assert told.modes[0] == "attention_rescoring"
    assert told.heads == ("ctc", "attention", spoken_model.name.removeprefix("tones_"))


@pytest.mark.parametrize("mode", MODES)
def test_a_model_without_a_head_names_what_there_is(
    tone_engine: Engine, sounds: Any, mode: str
) -> None:
    there_is = "attention_rescoring, ctc_prefix_beam_search, ctc_greedy_search, attention"
    with pytest.raises(InvalidStreamConfig, match=f"^mode={mode}: must be one of {there_is}$"):
        tone_engine.open(config(mode), sounds.Listener())


def test_another_name_is_refused_with_those_of_the_head(engine: Engine, sounds: Any) -> None:
    with pytest.raises(InvalidStreamConfig, match="attention, transducer_greedy_search, transd"):
        engine.open(config("guess"), sounds.Listener())


@pytest.mark.parametrize("option", [{"transducer_beam": 2}, {"transducer_loop": "cpu"}])
def test_options_of_a_head_that_is_not_there_are_refused(
    make_engine: Callable[..., Engine], tone_model: LoadedModel, option: dict[str, object]
) -> None:
    [name] = option
    with pytest.raises(InvalidEngineConfig, match=f"{name}: this model has no transducer"):
        make_engine(tone_model, options=option)


def test_the_width_of_a_beam_is_the_operators(
    make_engine: Callable[..., Engine], spoken_model: LoadedModel, sounds: Any
) -> None:
    clip = chord(sounds, 0.3)
    one = make_engine(spoken_model, **ROOM, options={"transducer_beam": 1})
    asked = StreamConfig(mode="transducer_beam_search", alternatives=3)
    [final] = sounds.transcribe(one, clip, asked).finals
    assert len(final.alternatives) == 1
    assert final.alternatives[0].text == sounds.transcribe(one, clip, config(MODES[0])).text


def test_a_loop_of_a_gpu_needs_one(
    make_engine: Callable[..., Engine], spoken_model: LoadedModel
) -> None:
    with pytest.raises(InvalidEngineConfig, match="kernel: the model is on no GPU"):
        make_engine(spoken_model, options={"transducer_loop": "kernel"})


@pytest.fixture
def model_of_labels(tmp_path: Path) -> LmFile:
    """Digits, of which 五 is likelier than others."""
    ones = "".join(f"{-0.1 if each == '五' else -3} {each}\n" for each in "一二三四五六七八九")
    path = tmp_path / "lm.arpa"
    path.write_text(f"\\data\\\nngram 1=11\n\n\\1-grams:\n-3 <unk>\n-3 <s>\n{ones}\n\\end\\\n")
    return LmFile(read_arpa(path), path.name)


@pytest.fixture
def guided(
    make_engine: Callable[..., Engine], spoken_model: LoadedModel, model_of_labels: LmFile
) -> Engine:
    weights = {"weights": {"transducer_lm": 1.0}}
    return make_engine(spoken_model, labels=model_of_labels, **ROOM, **weights)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({}, "五"),
        ({"graph": GraphOptions(lm=True)}, "五"),
        ({"graph": GraphOptions(lm=False)}, "八"),
        ({"weights": {"transducer_lm": 0.0}}, "八"),
    ],
)
def test_a_model_of_labels_counts_in_a_beam_as_a_stream_asks(
    guided: Engine, sounds: Any, asked: dict[str, Any], text: str
) -> None:
    clip = np.concatenate((sounds.noise(0.2), chord(sounds)))
    heard = sounds.transcribe(guided, clip, StreamConfig(mode=MODES[1], **asked))
    assert heard.text[0] == text
    greedy = sounds.transcribe(guided, clip, StreamConfig(mode=MODES[0]))
    assert greedy.text[0] == "八"


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (
            {"mode": MODES[0], "weights": {"transducer_lm": 1.0}},
            "mode transducer_beam_search alone",
        ),
        ({"mode": MODES[0], "graph": GraphOptions(lm=True)}, "lm=on"),
        (
            {"mode": MODES[1], "weights": {"transducer_lm": 1.0}, "graph": GraphOptions(lm=False)},
            "contradicts lm=off",
        ),
    ],
)
def test_a_model_of_labels_that_is_asked_in_vain_is_refused(
    guided: Engine, sounds: Any, asked: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InvalidStreamConfig, match=complaint):
        guided.open(StreamConfig(**asked), sounds.Listener())


def test_a_model_of_labels_needs_a_head(
    make_engine: Callable[..., Engine], tone_model: LoadedModel, model_of_labels: LmFile
) -> None:
    with pytest.raises(InvalidEngineConfig, match="language model of labels: this model has no"):
        make_engine(tone_model, labels=model_of_labels)
